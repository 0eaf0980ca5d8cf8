"""Copies ignored files into a new worktree: those that `.worktreeinclude` names, as in Claude Code and Cline.

Only what git ignores is copied, only ordinary files, and no link is followed on either side.
"""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from halocline.files.opening import opened_folder
from halocline.files.regular import read_beginning
from halocline.files.target import held_below
from halocline.git.view import open_view
from halocline.git.worktree_changes import IGNORED, read_ignored

INCLUDE = ".worktreeinclude"
_MOST = 1 << 16
_MOST_NAMES = 1 << 26


async def copy_included(main: Path, folder: Path) -> tuple[int, list[str]]:
    """Return the number of files that were copied, and those that could not be. Raises GitUnusable."""
    try:
        patterns = read_beginning(main / INCLUDE, _MOST).decode(errors="surrogateescape").splitlines()
    except OSError:
        return 0, []
    options = [f"--exclude={line}" for line in patterns if line.strip() and not line.startswith("#")]
    if not options:
        return 0, []
    async with open_view(main) as view:
        answer = await view.run("ls-files", "--others", "--ignored", "-z", *options, most=_MOST_NAMES)
    named = [path for path in answer.output.split(b"\0") if path]
    found = await read_ignored(main, named) if named else {}
    ignored = sorted(path for path, why in found.items() if why == IGNORED)
    return await asyncio.to_thread(_copy_files, main, folder, ignored)


def _copy_files(main: Path, folder: Path, paths: Iterable[bytes]) -> tuple[int, list[str]]:
    copied, failed = 0, list[str]()
    with opened_folder(os.fspath(main)) as here, opened_folder(os.fspath(folder)) as there:
        for path in map(os.fsdecode, paths):
            try:
                copied += _copy_file(here, there, path)
            except OSError:
                failed.append(path)
    return copied, failed


def _copy_file(here: int, there: int, path: str) -> bool:
    with held_below(here, path) as source, held_below(there, path, making_folders=True) as target:
        found, content = source.look(), source.content()
        if content is None or target.find():
            return False
        target.stage(target.name, content, found)
        return True
