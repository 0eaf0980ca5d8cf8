"""All stores of a home: what they take, whose checkpoints they hold, and giving those up.

Counting starts no git. Giving up holds a store's lock, so that no other process is saving meanwhile.
"""

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from halocline.checkpoints import lock, upkeep
from halocline.checkpoints.git import Git, Runner
from halocline.protocol.values import Value

_REFS = "refs/halocline"
_TITLE = "Checkpoints of "


class TaskCheckpoints(Value, frozen=True):
    """The numbers of a task's checkpoints, ascending, and when the last was taken, in Unix seconds."""

    task: str
    numbers: tuple[int, ...]
    newest: float


class Store(Value, frozen=True):
    """One workspace's store; `size` is in bytes on the disk. `is_damaged`: put aside, and of no use any more."""

    path: Path
    workspace: str
    size: int
    is_damaged: bool
    tasks: tuple[TaskCheckpoints, ...] = ()


def stores(folder: Path) -> list[Store]:
    """Those below the folder of all stores, the largest first."""
    found = [_store(path) for path in folder.glob("*") if (path / "objects").is_dir()]
    return sorted(found, key=lambda store: store.size, reverse=True)


def disk_size(place: Path) -> int:
    """What a file, or all files below a folder, take on the disk. What vanishes meanwhile counts nothing."""
    if not place.is_dir() or place.is_symlink():
        return _blocks(place)
    return sum(_blocks(os.path.join(parent, name)) for parent, _, names in os.walk(place) for name in names)


def _blocks(path: str | Path) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except OSError:
        return 0


def _store(path: Path) -> Store:
    title = path / "description"
    workspace = (
        title.read_text(encoding="utf-8", errors="replace").strip().removeprefix(_TITLE) if title.is_file() else ""
    )
    refs = path / _REFS
    tasks = (_checkpoints(entry) for entry in refs.iterdir()) if refs.is_dir() else ()
    kept = tuple(sorted((task for task in tasks if task.numbers), key=lambda task: task.newest))
    return Store(path, workspace, disk_size(path), ".damaged-" in path.name, kept)


def _checkpoints(folder: Path) -> TaskCheckpoints:
    numbers = tuple(sorted(int(entry.name) for entry in folder.iterdir() if entry.name.isdecimal()))
    newest = (folder / str(numbers[-1])).stat().st_mtime if numbers else 0.0
    return TaskCheckpoints(folder.name, numbers, newest)


def give_up(path: Path, keep: Mapping[str, int], seconds: float) -> None:
    """Keep only so many of the newest checkpoints of these tasks. `collect` frees what they took.

    Raises:
        TimeoutError: another process uses the store all the time.
    """
    with lock.held(path.with_suffix(".lock"), time.monotonic() + seconds, _nothing):
        for task, most in keep.items():
            folder = path / _REFS / task
            given_up = _checkpoints(folder).numbers
            for number in given_up[:-most] if most else given_up:
                (folder / str(number)).unlink(missing_ok=True)
            if not most:
                _remove_empty(folder)
        _cut_history(path)
        upkeep.mark_garbage(path)


def collect(path: Path, seconds: float, program: str = "git") -> None:
    """Free what no checkpoint needs.

    Raises:
        TimeoutError: another process uses the store all the time.
        HaloclineError: git failed, or took too long; nothing is lost.
    """
    deadline = time.monotonic() + seconds
    with lock.held(path.with_suffix(".lock"), deadline, _nothing) as held:
        upkeep.collect_garbage(Git(program, path, path, deadline, Runner(), held))


def _cut_history(path: Path) -> None:
    """Let the oldest checkpoint that is left of each task be its first one: its parent would keep all before alive."""
    refs = path / _REFS
    first = [(folder, _checkpoints(folder).numbers) for folder in refs.iterdir()] if refs.is_dir() else []
    cut = [(folder / str(numbers[0])).read_text() for folder, numbers in first if numbers and numbers[0] > 1]
    new = path / "shallow.new"
    new.write_text("".join(cut))
    new.replace(path / "shallow")


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def _nothing() -> None:
    """Nobody breaks this off."""


def total(found: Iterable[Store]) -> int:
    """What these take, in bytes on the disk."""
    return sum(store.size for store in found)
