"""Find guarded files by inode: a hard link gives a file a second name, under which it would not be guarded.

What must stay true: the search stops after `MOST_ENTRIES` entries, whatever the folders hold.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from halocline.protocol.permission_rules import Place

MOST_ENTRIES = 10_000
_SKIPPED = frozenset({".git", ".hg", "node_modules", ".venv", "venv", "__pycache__"})
"""Folders with many files and no secrets of the user's."""
_AT_HOME = ("", ".ssh", ".aws", ".gnupg", ".kube", ".docker", ".config/gh", ".config/gcloud", ".azure")
"""Folders in the user's home that hold keys, including the home itself."""


def guarded_names(roots: Sequence[str], home: str, kind: Callable[[str], Place | None]) -> dict[int, tuple[str, ...]]:
    """Map inodes to paths of guarded files: hidden and secret ones below the roots, our own, and the user's keys."""
    found: dict[int, list[str]] = {}
    persons = os.path.realpath(os.path.expanduser("~"))
    apart = [*filter(None, (home,)), *(os.path.join(persons, name).rstrip("/") for name in _AT_HOME)]
    for entry in chain(_files_below(roots), *map(list_entries, apart)):
        if kind(entry.path):
            found.setdefault(entry.inode(), []).append(entry.path)
    return {inode: tuple(paths) for inode, paths in found.items()}


def _files_below(roots: Sequence[str]) -> "Iterator[os.DirEntry[str]]":
    """Yield files below the folders, nearest first, without following links."""
    waiting, left = deque(roots), MOST_ENTRIES
    while waiting and left > 0:
        entries = list_entries(waiting.popleft())[:left]
        left -= len(entries)
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif entry.name not in _SKIPPED:
                waiting.append(entry.path)


def list_entries(folder: str) -> "list[os.DirEntry[str]]":
    """Return the entries of a folder; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
