"""The changes of an agent in its worktree: for a review, and merged into files of the folder that it started from.

What must stay true: a merge keeps what the file has now; where both sides changed the same lines, there is no result.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from errno import EFBIG
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.restore.merge import MARKER, read_hunks
from halocline.edits.diff import make_diff
from halocline.files.encodings import decode_text
from halocline.files.opening import find_place, open_below, opened_folder, require_regular
from halocline.files.regular import read_from
from halocline.git.environment import bare_environment
from halocline.git.process import run_git
from halocline.git.repository import find_repository
from halocline.git.worktree_changes import WorktreeChanges, read_changes
from halocline.git.worktree_list import Worktree, find_main, find_worktree
from halocline.git.worktrees import remove_worktree
from halocline.ports.subagents import Merged
from halocline.protocol.errors import ToolFailure, UsageError
from halocline.protocol.file_names import make_printable
from halocline.protocol.kinds import Diff
from halocline.protocol.values import Value

LARGEST = 20_000_000
"""Bytes of a file that is merged."""
MOST_DIFF, MOST_FILES = 12_000, 200
"""Characters of a diff, and files, in a review."""
UNCHANGED = "[It changed no files.]"
LONGEST_HUNK = 2_000

FILES = (b"100644", b"100755")
"""The modes of regular files in git."""
Sides = tuple[bytes | None, bytes | None]
"""A file in the commit that the agent started from, and as it left it."""


class AgentChanges(Value, frozen=True):
    """The files that an agent changed, by their paths from the workspace; `apart` are those that no merge takes over.

    These are links, modes, files that are too large, and submodules.
    """

    sides: Mapping[str, Sides] = {}
    apart: tuple[str, ...] = ()


async def read_agent_changes(workspace: Path, name: str) -> AgentChanges:
    """Return what an agent changed in its worktree. Raises UsageError and GitUnusable."""
    worktree, prefix = await asyncio.to_thread(_find_worktree, workspace, name)
    changes = await read_changes(worktree)
    return await asyncio.to_thread(_read_sides, worktree, prefix, changes)


async def remove_unchanged(workspace: Path, name: str) -> None:
    """Remove a worktree in which nothing was changed; if git refuses, it stays."""
    with suppress(UsageError, ToolFailure):
        await remove_worktree((await asyncio.to_thread(_find_worktree, workspace, name))[0])


def _find_worktree(workspace: Path, name: str) -> tuple[Worktree, str]:
    """Return a worktree as one of this workspace, even if that is a worktree itself."""
    found = find_worktree(find_main(workspace), name)
    return replace(found, main=workspace), find_repository(workspace, os.environ).prefix


def _read_sides(worktree: Worktree, prefix: str, changes: WorktreeChanges) -> AgentChanges:
    sides: dict[str, Sides] = {}
    apart = [*changes.apart, *(f"{path} (only staged)" for path in changes.staged)]
    with opened_folder(find_place(worktree.folder)) as folder:
        for raw, base in changes.files.items():
            path = os.fsdecode(raw)
            shown = os.path.relpath(path, prefix or ".")
            try:
                now, is_program = _read(folder, path)
            except OSError:  # it is a link, or too large
                apart.append(shown)
                continue
            if base and base.mode not in FILES:
                apart.append(shown)
                continue
            if now is not None and is_program != (base is not None and base.mode == FILES[1]):
                apart.append(f"{shown} (its mode)")
            if now != (base.content if base else None):
                sides[shown] = base.content if base else None, now
    return AgentChanges(sides, tuple(apart))


def _read(folder: int, path: str) -> tuple[bytes | None, bool]:
    """Read a file below an open folder, and whether it is a program; None if there is none. Raises OSError."""
    try:
        fd = open_below(folder, path)
    except (FileNotFoundError, NotADirectoryError):
        return None, False
    try:
        found = os.fstat(fd)
        require_regular(found, path)
        if found.st_size > LARGEST:
            raise OSError(EFBIG, os.strerror(EFBIG), path)
        return read_from(fd, LARGEST), bool(found.st_mode & 0o100)
    finally:
        os.close(fd)


def describe_changes(name: str, changes: AgentChanges, evidence: str, worktree: str) -> str:
    """Describe what an agent changed, ran and did not check, for its parent; bounded."""
    sides = changes.sides
    if not (sides or changes.apart):
        return UNCHANGED
    taken = [path for path, (_, now) in sides.items() if now is not None]
    gone = [path for path, (_, now) in sides.items() if now is None]
    diffs = [diff for path, (base, now) in sides.items() if (diff := _make_diff(path, base, now))]
    text = "\n".join(diff.text.rstrip("\n") for diff in diffs)
    if len(text) > MOST_DIFF:
        text = f"{text[:MOST_DIFF]}\n[{len(text) - MOST_DIFF:,} more characters of the diff are in the worktree]"
    parts = (
        f"[It changed {len(sides)} file{'s' * (len(sides) != 1)} in its worktree {worktree}: {_describe_size(diffs)}.]",
        evidence,
        f"To take them: merge_agent_changes with agent {name}, paths {_list_paths(taken)}"
        + (f", deleted {_list_paths(gone)}" if gone else ""),
        f"Not taken over by that: {_list_paths(changes.apart)}" if changes.apart else "",
        text,
    )
    return "\n".join(filter(None, parts))


def _make_diff(path: str, base: bytes | None, now: bytes | None) -> Diff | None:
    if any(side is not None and b"\0" in side for side in (base, now)):
        return None
    before, after = (None if side is None else decode_text(side) for side in (base, now))
    return make_diff(path, before, after)


def _describe_size(diffs: Sequence[Diff]) -> str:
    return f"+{sum(diff.added for diff in diffs)} -{sum(diff.removed for diff in diffs)} lines"


def _list_paths(paths: Sequence[str]) -> str:
    shown = ", ".join(make_printable(path) for path in paths[:MOST_FILES])
    return f"[{shown}{', and more' * (len(paths) > MOST_FILES)}]"


async def merge_side(folder: Path, sides: Sides, now: bytes | None) -> Merged:
    """Merge an agent's change of a file into its content `now`. Raises ToolFailure."""
    base, theirs = sides
    if now in (base, theirs):
        return Merged(theirs)
    if base is None or now is None or theirs is None:
        what = "it was deleted here" if now is None else "the agent deleted it" if theirs is None else "both added it"
        texts = [None if side is None else decode_text(side) for side in (now, theirs)]
        both = f"{_show_side('now', texts[0])}{_show_side('agent', texts[1])}"
        return Merged(conflicts=f"{what}, and the other side is another.\n{both}")
    if any(b"\0" in side for side in (base, now, theirs)):
        return Merged(conflicts="it is binary, and changed on both sides.")
    with tempfile.TemporaryDirectory(prefix="halocline-merge-") as place:
        await asyncio.to_thread(_write_all, Path(place), {"now": now, "base": base, "agent": theirs})
        words = ("merge-file", "-p", "-q", MARKER, "now", "base", "agent")
        answer = await run_git(
            Path(place), bare_environment(os.environ, os.fspath(folder)), words, most=2 * LARGEST, seconds=60
        )
    if answer.code == 0:
        return Merged(answer.output)
    if answer.code is None or answer.code > 127:
        raise ToolFailure("git could not merge a file. Nothing was changed; make the edit yourself.")
    return Merged(conflicts="\n".join(_list_hunks(answer.output, now)) or "both sides changed the same lines.")


def _write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _list_hunks(merged: bytes, now: bytes) -> Iterator[str]:
    for number, hunk in enumerate(read_hunks(merged, now), 1):
        yield f"{number}. line {hunk.line}:\n{_show_side('now', hunk.ours)}{_show_side('agent', hunk.theirs)}"


def _show_side(name: str, text: str | None) -> str:
    if text is None:
        return f"<<< {name}: no file\n"
    more = f"\n[{len(text) - LONGEST_HUNK:,} more characters]\n" if len(text) > LONGEST_HUNK else ""
    return f"<<< {name}\n{text[:LONGEST_HUNK]}{more}>>>\n"
