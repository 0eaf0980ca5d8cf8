"""The store of a folder that was renamed: it is found by the folder's mark, and gets the name of the new path.

A store belongs to each folder that used it at its place. So where another folder is at the old place by now and uses
the store as well, the renamed one takes a copy along. What another folder left at the name of the new path gets a name
of its own, under which its folder finds it again.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from halocline.checkpoints.store import layout, lock
from halocline.files.durable import sync_below, sync_path
from halocline.files.folder_mark import read_mark
from halocline.protocol.errors import UsageError

_UNFINISHED = (
    "A restore of several folders was interrupted before {old} was renamed to {new}. "
    "Rename it back, and run halo doctor --fix. Then it can be renamed."
)
_COPY = ".damaged-copy"
"""The end of the name of a copy that is not whole: what is left of one is deleted like a damaged store."""


def list_stores(folder: Path, own: Path, mark: str) -> list[Path]:
    """Return the stores that may have checkpoints of a folder with this mark: that of its path, `own`, first."""
    return [own, *(store for store in _list_marked(folder, mark) if store != own)] if mark else [own]


def find_left_store(store: Path, workspace: Path) -> Path | None:
    """Return the store of this workspace from before it was renamed; None if it was not, or has its store already."""
    mark, known = read_mark(workspace), layout.read_marks(store)
    if not mark or mark in known or (layout.is_prepared(store) and not known):
        return None
    others = (other for other in _list_marked(store.parent, mark) if other != store)
    return next((one for one in others if _find_user(one, workspace) != mark), None)


def take_along(
    store: Path,
    left: Path,
    workspace: Path,
    seconds: float,
    check: Callable[[], None],
    is_unfinished: Callable[[Path], bool],
) -> None:
    """Give the store that a renamed workspace has `left` the name that belongs to its path now.

    `is_unfinished` tells if a restore of several folders with a store was interrupted.

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
        if is_unfinished(left):
            raise _explain_unfinished(former, workspace)
        taken = _copy_store(left, store) if _find_user(left, workspace) in layout.read_marks(left) else left
        if layout.is_prepared(store):
            store.rename(aside)
        elif store.is_dir():
            _move_objects(store, taken)
        elif store.exists():
            layout.put_aside(store, time.time())
        layout.redirect_alternate(taken, former, workspace)
        layout.note_mark(taken, read_mark(workspace), alone=taken != left)
        if taken != left:
            sync_below(taken)
        taken.rename(store)
        sync_path(store.parent)
        layout.note_workspace(store, workspace)


def _find_user(store: Path, workspace: Path) -> str:
    """Return the mark of the folder at the place of a store; empty if it is gone, only a link, or this workspace."""
    place = layout.read_workspace(store)
    return "" if place == str(workspace) or os.path.realpath(place) != place else read_mark(place)


def _copy_store(left: Path, store: Path) -> Path:
    """Copy a store under a name of its own; what never changes is shared."""
    import shutil  # folders are seldom renamed

    copy = store.with_name(store.name + _COPY)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(left, copy, symlinks=True, copy_function=_link_object)
    return copy


def _link_object(source: str, target: str) -> None:
    import shutil

    parts = Path(source).parts
    if "objects" in parts and "info" not in parts:
        with suppress(OSError):
            os.link(source, target)
            return
    shutil.copy2(source, target)


def _move_objects(store: Path, into: Path) -> None:
    """Move the contents that were kept before the first checkpoint into the store that has the others."""
    import shutil

    for place in (store / "objects").glob("??/*"):
        target = into / "objects" / place.parent.name / place.name
        target.parent.mkdir(mode=0o700, exist_ok=True)
        place.replace(target)
    shutil.rmtree(store)


def _place_aside(store: Path) -> Path:
    marks = " ".join(layout.read_marks(store))
    name = hashlib.sha256(f"{store.name} {marks}".encode()).hexdigest()[:16]
    while store.with_name(name).exists():
        name = hashlib.sha256(name.encode()).hexdigest()[:16]
    return store.with_name(name)


def _list_marked(folder: Path, mark: str) -> Iterator[Path]:
    """Yield the stores of folders with this mark, without those that were damaged and set aside."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if "." not in entry.name and mark in layout.read_marks(Path(entry.path)):
                yield Path(entry.path)


def _explain_unfinished(former: str, workspace: Path) -> UsageError:
    return UsageError(*_UNFINISHED.format(old=former, new=workspace).split(". ", 1))
