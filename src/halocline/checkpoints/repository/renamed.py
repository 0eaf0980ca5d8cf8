"""The store of a folder that was renamed: it is found by the folder's mark, and gets the name of the new path.

A store at that name that another folder left gets a name of its own, under which its folder finds it again.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from halocline.checkpoints.recovery.journal import read_journal
from halocline.checkpoints.store import layout, lock
from halocline.files.folder_mark import is_renamed, read_mark
from halocline.protocol.errors import UsageError

_UNFINISHED = (
    "A restore of several folders was interrupted before {old} was renamed to {new}. "
    "Rename it back, and run halo doctor --fix. Then it can be renamed."
)


def find_store(folder: Path, own: Path, mark: str) -> Path:
    """Return the store in which the checkpoints of a folder with this mark are; `own` is the one of its path."""
    if not mark or layout.read_store_mark(own) == mark:
        return own
    return next((store for store in _list_marked(folder, mark) if store != own), own)


def find_left_store(store: Path, workspace: Path) -> Path | None:
    """Return the store of this workspace from before it was renamed; None if it was not, or has its store already."""
    mark, known = read_mark(workspace), layout.read_store_mark(store)
    if not mark or mark == known or (store.exists() and not known):
        return None
    others = (other for other in _list_marked(store.parent, mark) if other != store)
    return next((one for one in others if is_renamed(layout.read_workspace(one), mark, mark)), None)


def take_along(store: Path, left: Path, workspace: Path, seconds: float, check: Callable[[], None]) -> None:
    """Give the store that a renamed workspace has `left` the name that belongs to its path now.

    Raises:
        LockHeld: another process uses one of the stores all the time.
        UsageError: a restore has to be undone first, at the old place.
    """
    deadline = time.monotonic() + seconds
    with ExitStack() as locks:
        for one in sorted({store, left, aside := _place_aside(store)}):  # in one order, for all processes
            locks.enter_context(lock.hold_lock(one.with_suffix(".lock"), deadline, check))
        if find_left_store(store, workspace) != left:  # another process was faster
            return
        former = layout.read_workspace(left)
        _require_no_others(left, former, workspace)
        if store.exists():
            store.rename(aside)
        layout.redirect_alternate(left, former, workspace)
        left.rename(store)


def _place_aside(store: Path) -> Path:
    name = f"{store.name} {layout.read_store_mark(store)}"
    return store.with_name(hashlib.sha256(name.encode()).hexdigest()[:16])


def _list_marked(folder: Path, mark: str) -> Iterator[Path]:
    """Yield the stores of folders with this mark, without those that were damaged and set aside."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if "." not in entry.name and layout.read_store_mark(Path(entry.path)) == mark:
                yield Path(entry.path)


def _require_no_others(store: Path, former: str, workspace: Path) -> None:
    journal = read_journal(store)
    if journal and journal.parts:
        raise UsageError(*_UNFINISHED.format(old=former, new=workspace).split(". ", 1))
