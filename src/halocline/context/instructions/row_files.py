"""The files below a location of rules, within bounds: a project may be hostile."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from halocline.context.instructions.places import OTHER_THINGS
from halocline.protocol.config_locations import Row

MOST_FOLDERS = 500
MOST_ENTRIES = 2_000
"""Entries read in one folder."""


def files_of_row(row: Row, place: Path) -> Iterator[Path]:
    """Yield the files of a row: the place itself, or all below it by name; each linked folder is entered once."""
    if not (row.endings and place.is_dir()):
        if place.exists():
            yield place
        return
    seen: set[str] = set()
    waiting = [place]
    while waiting and len(seen) < MOST_FOLDERS:
        folder = waiting.pop(0)
        if (real := os.path.realpath(folder)) in seen:
            continue
        seen.add(real)
        inner: list[Path] = []
        for name, is_folder in _list_entries(folder):
            if is_folder and not (folder == place and name in OTHER_THINGS):
                inner.append(folder / name)
            elif not is_folder and name.endswith(row.endings):
                yield folder / name
        waiting[:0] = inner


def _list_entries(folder: Path) -> list[tuple[str, bool]]:
    try:
        with os.scandir(folder) as entries:
            seen = islice(entries, MOST_ENTRIES)
            return sorted((entry.name, entry.is_dir()) for entry in seen if not entry.name.startswith("."))
    except OSError:
        return []
