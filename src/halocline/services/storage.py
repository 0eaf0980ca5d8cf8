"""Disk use of the home, by task, and cleaning up: first make a plan, then carry it out.

Tasks themselves are never removed here, and whatever a running task may be about to use stays.
"""

import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from halocline.checkpoints.repository import stores
from halocline.checkpoints.repository.stores import Store, disk_size
from halocline.checkpoints.shadow_git import BY_HAND
from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import Value
from halocline.services import blob_gc
from halocline.store.blobs import drop_blob
from halocline.store.paths import Home
from halocline.store.tasks import history

_FRESH = 24 * 3600.0
"""Seconds for which unreferenced data is kept, because a task may be about to reference it."""
_PATIENCE = 10.0
"""Seconds for which one store may be busy; a task that waits longer than 15 turns its checkpoints off."""
_LONGEST = 3600.0
"""Seconds that repacking a large store may take; tasks keep using it in the meantime."""


class TaskUse(Value, frozen=True):
    """One task: its own folder, and the blobs that only it references. Sizes are bytes on disk."""

    task: str
    title: str
    workspace: str
    changed_at: float
    folder: int
    blobs: int
    checkpoints: int


class Storage(Value, frozen=True):
    """Disk use in bytes. `shared` blobs are referenced by several tasks, `unused` ones by none."""

    root: str
    total: int
    tasks: int
    blobs: int
    shared: int
    unused: int
    checkpoints: int
    trash: int
    caches: int
    other: int
    by_task: tuple[TaskUse, ...]
    stores: tuple[Store, ...]


class GivingUp(Value, frozen=True):
    """Checkpoints of a task to remove: all but the newest `keep`. `why` is shown to a person."""

    store: Path
    workspace: str
    task: str
    count: int
    keep: int
    why: str


class PrunePlan(Value, frozen=True):
    """A list of what to remove: checkpoints, damaged stores that were set aside, and blobs that no task references.

    A blob written after `before` (Unix seconds) stays nevertheless.
    """

    checkpoints: tuple[GivingUp, ...]
    damaged: tuple[Store, ...]
    blobs: tuple[Path, ...]
    blob_bytes: int
    before: float

    def __bool__(self) -> bool:
        return bool(self.checkpoints or self.damaged or self.blobs)


class Pruned(Value, frozen=True):
    """Bytes freed, and what could not be done."""

    freed: int
    problems: tuple[str, ...] = ()


def measure_storage(env: Mapping[str, str]) -> Storage:
    """Measure the home. Raises UsageError if there is none."""
    home = Home.of(env)
    sizes = {entry.name: disk_size(entry) for entry in home.root.iterdir()}
    found = stores.list_stores(home.checkpoints)
    named, tasks = _list_tasks(home, found)
    blobs = {path: disk_size(path) for path in _list_blobs(home)}
    owners = {path: named.get(_blob_name(path), frozenset()) for path in blobs}
    own = {use.task: sum(blobs[path] for path, who in owners.items() if who == {use.task}) for use in tasks}
    parts = {
        "tasks": sizes.pop(home.tasks.name, 0),
        "blobs": sizes.pop(home.blobs.name, 0),
        "checkpoints": sizes.pop(home.checkpoints.name, 0),
        "trash": sizes.pop("trash", 0),
        "caches": sum(sizes.pop(name, 0) for name in ("cache", home.catalogue.name, home.history.name)),
    }
    return Storage(
        root=str(home.root),
        total=sum(parts.values()) + sum(sizes.values()),
        **parts,
        shared=sum(size for path, size in blobs.items() if len(owners[path]) > 1),
        unused=sum(size for path, size in blobs.items() if not owners[path]),
        other=sum(sizes.values()),
        by_task=tuple(replace(use, blobs=own[use.task]) for use in tasks),
        stores=tuple(found),
    )


def plan_pruning(
    env: Mapping[str, str], older: float | None = None, keep: int | None = None, now: float | None = None
) -> PrunePlan:
    """Plan to remove what no longer belongs to a task.

    `older` adds the checkpoints of tasks unchanged for that many seconds, `keep` all but the newest ones of every
    task. `now` is in Unix seconds.
    """
    home, now = Home.of(env), time.time() if now is None else now
    before = min(now - _FRESH, blob_gc.in_nobodys_hands(home, now))
    found = stores.list_stores(home.checkpoints)
    named, uses = _list_tasks(home, found)
    changed_at = {use.task: use.changed_at for use in uses} | _in_trash(home)
    chosen = [
        giving_up
        for store in found
        if not store.is_damaged
        for task in store.tasks
        if (giving_up := _giving_up(store, task, changed_at, now, older, keep))
    ]
    unused = [path for path in _list_blobs(home) if _blob_name(path) not in named and path.stat().st_mtime < before]
    damaged = tuple(store for store in found if store.is_damaged)
    return PrunePlan(tuple(chosen), damaged, tuple(unused), sum(map(disk_size, unused)), before)


def _giving_up(
    store: Store,
    task: stores.TaskCheckpoints,
    changed_at: dict[str, float],
    now: float,
    older: float | None,
    keep: int | None,
) -> GivingUp | None:
    count = len(task.numbers)

    def because(why: str, kept: int = 0) -> GivingUp:
        return GivingUp(store.path, store.workspace, task.task, count - kept, kept, why)

    if task.task != BY_HAND and task.task not in changed_at and task.newest < now - _FRESH:
        return because("its task is deleted")
    if older is not None and changed_at.get(task.task, task.newest) < now - older:
        return because("not changed for a long time")
    if keep is not None and count > keep:
        return because(f"all but the newest {keep}", keep)
    return None


def prune_storage(env: Mapping[str, str], plan: PrunePlan, say: Callable[[str], None] = lambda step: None) -> Pruned:
    """Carry out a plan, but skip stores that are busy. `say` gets each step before it begins."""
    home = Home.of(env)
    before, problems = disk_size(home.root), []
    folders = {one.store: one.workspace for one in plan.checkpoints}
    for number, path in enumerate(sorted(folders), start=1):
        say(f"Removing checkpoints, folder {number} of {len(folders)}: {folders[path] or path} …")
        try:
            stores.give_up(path, {one.task: one.keep for one in plan.checkpoints if one.store == path}, _PATIENCE)
            stores.collect_garbage(path, _PATIENCE, patience=_LONGEST)
        except TimeoutError:
            problems.append(f"{path} is in use; try again later.")
        except HaloclineError as error:
            problems.append(f"{path} could not be cleaned up now; it will be later: {error.text}")
    for store in plan.damaged:
        shutil.rmtree(store.path, ignore_errors=True)
    for blob in plan.blobs:
        drop_blob(blob, plan.before)
    return Pruned(max(0, before - disk_size(home.root)), tuple(problems))


def _list_tasks(home: Home, found: Iterable[Store]) -> tuple[dict[str, frozenset[str]], list[TaskUse]]:
    """Return the tasks that reference each blob (including tasks in the trash), and the tasks."""
    counts: dict[str, int] = {}
    for task in (task for store in found if not store.is_damaged for task in store.tasks):
        counts[task.task] = counts.get(task.task, 0) + len(task.numbers)
    named: dict[str, frozenset[str]] = {}
    for folder in blob_gc.task_folders(home):
        for blob in blob_gc.named_in(folder):
            named[blob] = named.get(blob, frozenset()) | {folder.name}
    uses = [
        TaskUse(
            task=info.task,
            title=info.title,
            workspace=info.workspace,
            changed_at=info.changed_at,
            folder=disk_size(home.task(info.task)),
            blobs=0,
            checkpoints=counts.get(info.task, 0),
        )
        for info in history.newest_first(home.tasks)
    ]
    return named, uses


def _in_trash(home: Home) -> dict[str, float]:
    return {folder.name: folder.stat().st_mtime for folder in (home.root / "trash").glob("*")}


def _list_blobs(home: Home) -> Iterator[Path]:
    return (path for path in home.blobs.glob("??/*") if path.is_file())


def _blob_name(blob: Path) -> str:
    return blob.parent.name + blob.name
