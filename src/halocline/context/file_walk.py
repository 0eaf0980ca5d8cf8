"""The files below a folder of rules, commands or agents, within bounds: a project may be hostile."""

import os
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

MOST_FOLDERS = 500
MOST_ENTRIES = 2_000
"""Entries read in one folder."""


def find_files(
    folder: Path,
    endings: tuple[str, ...],
    *,
    deepest: int = MOST_FOLDERS,
    within: str = "",
    but: Collection[str] = (),
) -> Iterator[Path]:
    """Yield files by name, without hidden ones, up to `deepest` levels below; each linked folder is entered once.

    A linked folder outside of `within`, if that is given, is not entered but yielded itself, so that it can be named.
    `but` are the names of folders at the top that hold other things.
    """
    seen: set[str] = set()
    waiting = [(folder, 0)]
    while waiting and len(seen) < MOST_FOLDERS:
        here, depth = waiting.pop(0)
        real = os.path.realpath(here)
        if within and depth and not real.startswith(f"{within}/"):
            yield here
            continue
        if real in seen:
            continue
        seen.add(real)
        inner: list[tuple[Path, int]] = []
        for name, is_folder in _list_entries(here):
            if not is_folder and name.endswith(endings):
                yield here / name
            elif is_folder and depth < deepest and not (depth == 0 and name in but):
                inner.append((here / name, depth + 1))
        waiting[:0] = inner


def _list_entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            seen = islice(entries, MOST_ENTRIES)
            return sorted((entry.name, is_folder(entry)) for entry in seen if not entry.name.startswith("."))
    except OSError:
        return []


def is_folder(entry: "os.DirEntry[str]") -> bool:
    """Return False also for a link that leads nowhere, or to itself."""
    try:
        return entry.is_dir()
    except OSError:
        return False
