"""Find what a change may lose because no checkpoint holds it: ignored and large files, other repositories, git."""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from halocline.checkpoints.store.layout import read_excludes
from halocline.files.regular import read_beginning
from halocline.policy.hard_links import list_entries
from halocline.policy.paths import is_within
from halocline.policy.patterns import matches_any

MOST_ENTRIES = 5_000
MOST_NAMED = 3
_MOST_RULES = 1 << 20


def find_unkept(paths: Iterable[str], roots: Sequence[str], largest: int) -> tuple[str, ...]:
    """Return the first existing files at or below these absolute paths that no checkpoint of the roots holds.

    Checkpoints leave out what the project or we ignore, files over `largest` bytes, and other repositories. A folder
    with too many files to look at is returned itself.
    """
    found: list[str] = []
    for path in dict.fromkeys(paths):
        if not os.path.lexists(path):
            continue
        root = next((root for root in roots if is_within(path, root) and path != root), "")
        found += [path] if not root else _list_unkept(path, root, largest)
        if len(found) >= MOST_NAMED:
            break
    return tuple(found[:MOST_NAMED])


def _list_unkept(path: str, root: str, largest: int) -> Iterator[str]:
    waiting, left = [path], MOST_ENTRIES
    while waiting:
        here = waiting.pop()
        is_folder = os.path.isdir(here) and not os.path.islink(here)
        if _is_ignored(here, root) or (is_folder and here != root and os.path.lexists(os.path.join(here, ".git"))):
            yield here
        elif is_folder:
            entries = list_entries(here)
            left -= len(entries)
            if left < 0:
                yield path
                return
            waiting += [entry.path for entry in entries]
        elif not os.path.islink(here) and os.path.getsize(here) > largest:
            yield here


def _is_ignored(path: str, root: str) -> bool:
    """Return True if the project's ignore rules or ours leave a path out of checkpoints."""
    inside = os.path.relpath(path, root)
    if ".git" in inside.split("/") or matches_any(_read_ours(), inside):
        return True
    folder = os.path.dirname(path)
    while is_within(folder, root):
        lines = _read_rules(os.path.join(folder, ".gitignore"))
        if lines and matches_any(lines, os.path.relpath(path, folder)):
            return True
        folder = os.path.dirname(folder)
    return False


def _read_rules(file: str) -> tuple[str, ...]:
    try:
        return tuple(read_beginning(Path(file), _MOST_RULES).decode("utf-8", "replace").splitlines())
    except OSError:
        return ()


@cache
def _read_ours() -> tuple[str, ...]:
    return tuple(read_excludes().splitlines())
