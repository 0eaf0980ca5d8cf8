"""All stores of a home: their size, the tasks with checkpoints in them, and deleting checkpoints.

Counting starts no git. Deleting holds a store's lock, so that no other process saves at the same time.
"""

import os
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from halocline.checkpoints.repository import upkeep
from halocline.checkpoints.repository.losses import forget_given_up, note_given_up
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.store import lock
from halocline.checkpoints.store.git import Git, Runner
from halocline.checkpoints.store.layout import JOURNAL, read_workspace
from halocline.checkpoints.store.objects import write_private
from halocline.checkpoints.store.refs import MERGES, REFS
from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import Value

_NO_TASK = "by-hand"
_PATIENCE = 5.0
# A task that wants to save waits up to fifteen seconds.
_LONGEST = 10.0
_GATHERING = 300.0
MEASURED = "measured"
"""File beside the stores with their size in bytes; it is as old as that figure."""
_HOUR, _FAR_BELOW = 3600.0, 0.8


class TaskCheckpoints(Value, frozen=True):
    """The numbers of a task's checkpoints, ascending, and when the last was taken, in Unix seconds."""

    task: str
    numbers: tuple[int, ...]
    newest: float


class Store(Value, frozen=True):
    """One workspace's store; `size` is in bytes on disk. `is_damaged`: it was set aside and is of no more use.

    `is_borrowing`: it needs objects of the project's own git. `is_half_restored`: a restore of its folder was
    interrupted, so some files may be as before it and others as after it.
    """

    path: Path
    workspace: str
    size: int
    is_damaged: bool
    tasks: tuple[TaskCheckpoints, ...] = ()
    is_borrowing: bool = False
    is_half_restored: bool = False


def list_stores(folder: Path) -> list[Store]:
    """The stores in the folder of all stores, largest first."""
    found = [describe_store(path) for path in folder.glob("*") if (path / "objects").is_dir()]
    return sorted(found, key=lambda store: store.size, reverse=True)


def repository_of(store: Store) -> Repository:
    """Return the repository of a store, not bound to a task."""
    return open_repository(store.path.parent, Path(store.workspace))


def upkeep_of(store: Store) -> upkeep.Upkeep:
    """Return the upkeep of a store."""
    return upkeep.Upkeep(repository_of(store))


def open_repository(folder: Path, workspace: Path, task: str = _NO_TASK, limits: Limits | None = None) -> Repository:
    """Return the repository of a workspace in the folder of all stores; new checkpoints belong to the task."""
    return Repository(folder, workspace, task, "git", limits or Limits())


def disk_size(place: Path) -> int:
    """Disk space of a file, or of all files below a folder, in bytes. Files that vanish meanwhile do not count."""
    if not place.is_dir() or place.is_symlink():
        return _count_blocks(place)
    return sum(_count_blocks(os.path.join(parent, name)) for parent, _, names in os.walk(place) for name in names)


def half_restored(folder: Path) -> list[str]:
    """Return the folders in which a restore was interrupted, without computing sizes."""
    return sorted(read_workspace(journal.parent) for journal in folder.glob(f"*/{JOURNAL}"))


def _count_blocks(path: str | Path) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except OSError:
        return 0


def describe_store(path: Path) -> Store:
    """Describe one store."""
    workspace = read_workspace(path)
    refs = path / REFS
    tasks = (_count_checkpoints(entry) for entry in refs.iterdir()) if refs.is_dir() else ()
    kept = tuple(sorted((task for task in tasks if task.numbers), key=lambda task: task.newest))
    return Store(
        path=path,
        workspace=workspace,
        size=disk_size(path),
        is_damaged=".damaged-" in path.name,
        tasks=kept,
        is_borrowing=upkeep.is_borrowing(path),
        is_half_restored=os.path.lexists(path / JOURNAL),
    )


def describe_loss(aside: Path) -> str:
    """Describe what is lost with a damaged store that was set aside."""
    tasks = describe_store(aside).tasks
    count = sum(len(task.numbers) for task in tasks)
    names = ", ".join(f"{task.task}/{task.numbers[0]} to {task.numbers[-1]}" for task in tasks[-3:])
    lost = f"{count} earlier checkpoints are lost ({names})" if count else "No checkpoints are lost"
    return f"The checkpoint store was damaged, so a new one was started. {lost}. The old store is {aside}."


def _count_checkpoints(folder: Path) -> TaskCheckpoints:
    numbers = tuple(sorted(int(entry.name) for entry in folder.iterdir() if entry.name.isdecimal()))
    newest = (folder / str(numbers[-1])).stat().st_mtime if numbers else 0.0
    return TaskCheckpoints(folder.name, numbers, newest)


def give_up(path: Path, keep: Mapping[str, int], seconds: float, runner: Runner | None = None) -> None:
    """Delete all but the given number of newest checkpoints of these tasks. `collect_garbage` then frees the space.

    Raises:
        TimeoutError: another process uses the store all the time, or an interrupted restore must be undone first.
    """
    check = (runner or Runner()).check
    with lock.hold_lock(path.with_suffix(".lock"), time.monotonic() + seconds, check):
        if _is_needed(path):
            raise TimeoutError
        for task, most in keep.items():
            note_given_up(path.parent, task)
            folder = path / REFS / task
            given_up = _count_checkpoints(folder).numbers
            for number in given_up[:-most] if most else given_up:
                (folder / str(number)).unlink(missing_ok=True)
            if not most:
                _remove_empty(folder)
                (path / MERGES / task).unlink(missing_ok=True)
        if describe_store(path).tasks:
            _cut_history(path)
            upkeep.mark_garbage(path)
        else:
            # A process that uses the store creates it again.
            shutil.rmtree(path)


def _is_needed(path: Path) -> bool:
    """True if an interrupted restore still needs it, here or in another folder that was restored with this one."""
    return (path / JOURNAL).exists() and os.path.isdir(describe_store(path).workspace)


def collect_garbage(path: Path, seconds: float, runner: Runner | None = None, patience: float = _GATHERING) -> None:
    """Free the space of objects that no checkpoint needs; does nothing if the store is gone.

    Most of it takes up to `patience` seconds, while tasks can still save; then they wait at most `seconds`.

    Raises:
        TimeoutError: another process uses the store all the time.
        HaloclineError: git failed or took too long; nothing is lost.
    """
    if not path.exists():
        return
    runner = runner or Runner()
    gathered = upkeep.gather_objects(Git("git", path, path, time.monotonic() + patience, runner))
    deadline = time.monotonic() + seconds
    with lock.hold_lock(path.with_suffix(".lock"), deadline, runner.check) as held:
        upkeep.free_objects(Git("git", path, path, deadline, runner, held), gathered)


def forget_task(folder: Path, task: str) -> None:
    """Delete a task's checkpoints; their space is freed later. A busy store keeps them."""
    for path in [store.path for store in list_stores(folder) if any(task == one.task for one in store.tasks)]:
        with suppress(TimeoutError):
            give_up(path, {task: 0}, 1)
    forget_given_up(folder, task)


def keep_within(folder: Path, quota: int, spared: str, seconds: float, runner: Runner) -> int:
    """Delete the oldest tasks' checkpoints until all stores take at most `quota` bytes, but never those of `spared`.

    Returns the number of tasks that lost theirs. What takes longer than `seconds`, or is busy, is left for another
    time. Stopping the runner raises Stopped. Stores that were far below the quota less than an hour ago are not
    measured again: with many of them, that would take every task seconds.
    """
    if _were_small(folder, quota):
        return 0
    _note_size(folder, 0)  # others who come meanwhile need not measure, too
    deadline, lost = time.monotonic() + seconds, 0
    left: set[Path] = set()
    while time.monotonic() < deadline and _note_size(folder, total_size(found := list_stores(folder))) > quota:
        runner.check()
        for store in found:
            if store.is_damaged:
                shutil.rmtree(store.path, ignore_errors=True)
        tasks = sorted(
            (task.newest, task.task, store.path)
            for store in found
            for task in store.tasks
            if not (store.is_damaged or store.path in left) and task.task != spared
        )
        if not tasks:
            break
        # One by one, garbage would be collected as often as there are tasks.
        oldest = tasks[: max(1, len(tasks) // 4)]
        for path in {path for _, _, path in oldest}:
            given_up = {task: 0 for _, task, place in oldest if place == path}
            try:
                give_up(path, given_up, _PATIENCE, runner)
                lost += len(given_up)
                collect_garbage(path, _LONGEST, runner)
            except (TimeoutError, HaloclineError):
                left.add(path)
    return lost


def _were_small(folder: Path, quota: int) -> bool:
    """True if all stores were measured within the last hour, and were far below the quota."""
    try:
        is_fresh = time.time() - (folder / MEASURED).stat().st_mtime < _HOUR
        return is_fresh and int((folder / MEASURED).read_text()) < quota * _FAR_BELOW
    except (OSError, ValueError):
        return False


def _note_size(folder: Path, size: int) -> int:
    """Record the size of all stores, and return it."""
    with suppress(OSError):
        write_private(folder / MEASURED, str(size).encode())
    return size


def _cut_history(path: Path) -> None:
    """Make each task's oldest remaining checkpoint its first one; its parent would keep all earlier ones alive."""
    refs = path / REFS
    first = [(folder, _count_checkpoints(folder).numbers) for folder in refs.iterdir()] if refs.is_dir() else []
    cut = [(folder / str(numbers[0])).read_text() for folder, numbers in first if numbers and numbers[0] > 1]
    new = path / "shallow.new"
    write_private(new, "".join(cut).encode())
    new.replace(path / "shallow")


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return


def total_size(found: Iterable[Store]) -> int:
    """Total size in bytes on disk."""
    return sum(store.size for store in found)
