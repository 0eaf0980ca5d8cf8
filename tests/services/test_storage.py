import os
import time
from contextlib import closing
from pathlib import Path

import pytest

from halocline.checkpoints.repository.stores import list_stores
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.protocol.events import TaskStarted
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.services import storage
from halocline.services.tasks import TaskService
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.tasks import history
from halocline.task.log import Log

LONG_AGO = time.time() - 90 * 86400


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"HALOCLINE_HOME": str(tmp_path / "home")}


@pytest.fixture
def home(env: dict[str, str]) -> Home:
    return Home.of(env)


def task(home: Home, name: str, *blobs: str, folder: str = "tasks") -> None:
    """A task whose log names these blobs."""
    log = Log(home.root / folder / name, name)
    said = " ".join(blobs)
    log.append(
        TaskStarted(
            workspace="/w",
            model="m",
            mode=Mode.ACT,
            approval_mode=ApprovalMode.ASK,
            system_prompt=said,
            version="1",
        )
    )
    log.close()


async def checkpoint(home: Home, workspace: Path, name: str) -> None:
    workspace.mkdir(exist_ok=True)
    (workspace / "a.txt").write_text(name)
    shadow = ShadowGit(home.checkpoints, workspace, name, delay=0, home=Path("/nobody"))
    shadow.begin(lambda event: None)
    await shadow.settle()
    await shadow.close()


def aged(*places: Path) -> None:
    for place in places:
        os.utime(place, (LONG_AGO, LONG_AGO))


def test_what_a_home_takes_is_the_sum_of_its_files_and_every_blob_has_its_owner(home: Home, env) -> None:
    own, both, _ = (DiskBlobs(home.blobs).put(bytes([n]) * 10_000) for n in range(3))
    task(home, "t1", own, both)
    task(home, "t2", both)
    (home.root / "settings.toml").write_text("")
    kept = storage.measure_storage(env)
    parts = (kept.tasks, kept.blobs, kept.checkpoints, kept.trash, kept.caches, kept.other)
    assert kept.total == sum(parts) == storage.disk_size(home.root)
    size = storage.disk_size(home.blobs / own[7:9] / own[9:])
    assert (kept.blobs, kept.shared, kept.unused) == (3 * size, size, size)
    assert {use.task: use.blobs for use in kept.by_task} == {"t1": size, "t2": 0}


def test_only_blobs_that_no_task_names_go_and_not_those_of_this_day(home: Home, env) -> None:
    blobs = DiskBlobs(home.blobs)
    named, thrown, old, fresh = (blobs.put(f"{n}".encode()) for n in range(4))
    places = {ref: home.blobs / ref[7:9] / ref[9:] for ref in (named, thrown, old, fresh)}
    task(home, "t1", named)
    task(home, "t2", thrown, folder="trash")
    aged(places[named], places[thrown], places[old])
    plan = storage.plan_pruning(env)
    assert plan.blobs == (places[old],)
    storage.prune_storage(env, plan)
    assert [ref for ref, place in places.items() if place.exists()] == [named, thrown, fresh]


@pytest.mark.process
async def test_checkpoints_of_a_task_that_is_gone_are_freed_and_those_in_the_trash_stay(
    home: Home, env, tmp_path: Path
) -> None:
    for name in ("kept", "gone", "thrown"):
        await checkpoint(home, tmp_path / "work", name)
    task(home, "kept")
    task(home, "thrown", folder="trash")
    later = time.time() + 3 * 86400
    plan = storage.plan_pruning(env, now=later)
    assert [(one.task, one.keep, one.why) for one in plan.checkpoints] == [("gone", 0, "its task is deleted")]
    assert not storage.plan_pruning(env).checkpoints
    done = storage.prune_storage(env, plan)
    assert (done.freed > 0, done.problems) == (True, ())
    (store,) = storage.measure_storage(env).stores
    assert {one.task for one in store.tasks} == {"kept", "thrown"}


@pytest.mark.process
async def test_a_deleted_task_keeps_its_checkpoints_until_the_trash_is_emptied(home: Home, tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        await checkpoint(home, tmp_path / "work", name)
        task(home, name)
    desk = TaskService(home, days=30)
    desk.delete("first")
    aged(home.trash / "first")
    desk.delete("second")
    assert kept(home) == {"first", "second", "third"}
    aged(home.trash / "first.old")
    desk.delete("third")
    assert kept(home) == {"second", "third"}
    assert {info.task for info, _ in desk.deleted()} == {"second", "third"}


def test_a_clock_that_was_wrong_for_an_hour_empties_no_trash(home: Home) -> None:
    task(home, "one", folder="trash")
    now, year = time.time(), 365 * 86400
    moments = (now + year, now + year + 3600, now, now + year + 2 * 86400)
    assert [history.list_outdated(home.trash, 30 * 86400, moment) for moment in moments] == [[]] * 4
    assert history.list_outdated(home.trash, 30 * 86400, now + year + 4 * 86400) == ["one"]


def place(home: Home, blob: str) -> Path:
    return home.blobs / blob[7:9] / blob[9:]


def test_a_task_that_goes_for_good_takes_along_the_contents_that_only_it_names(home: Home) -> None:
    own, both, thrown = (DiskBlobs(home.blobs).put(text) for text in (b"own", b"both", b"thrown"))
    task(home, "one", own, both, thrown)
    task(home, "two", both)
    task(home, "old", thrown, folder="trash")
    aged(*(place(home, blob) for blob in (own, both, thrown)))
    TaskService(home, days=30).forget("one")
    assert [place(home, blob).exists() for blob in (own, both, thrown)] == [False, True, True]


def test_a_content_that_an_open_task_may_be_about_to_name_stays(home: Home) -> None:
    put, left = (DiskBlobs(home.blobs).put(text) for text in (b"put again", b"left"))
    task(home, "one", put, left)
    aged(place(home, put), place(home, left))
    with closing(Log(home.task("open"), "open")):
        DiskBlobs(home.blobs).put(b"put again")
        TaskService(home, days=30).forget("one")
    assert [place(home, blob).exists() for blob in (put, left)] == [True, False]


def test_a_content_that_was_put_again_after_the_plan_stays(home: Home, env) -> None:
    blob = DiskBlobs(home.blobs).put(b"again")
    aged(place(home, blob))
    plan = storage.plan_pruning(env)
    assert plan.blobs == (place(home, blob),)
    DiskBlobs(home.blobs).put(b"again")
    storage.prune_storage(env, plan)
    assert place(home, blob).exists()


@pytest.mark.process
async def test_a_task_that_is_forgotten_takes_its_checkpoints_along(home: Home, tmp_path: Path) -> None:
    await checkpoint(home, tmp_path / "work", "one")
    task(home, "one")
    TaskService(home, days=30).forget("one")
    assert kept(home) == set()


def kept(home: Home) -> set[str]:
    """The tasks that have checkpoints."""
    return {one.task for store in list_stores(home.checkpoints) for one in store.tasks}


@pytest.mark.process
async def test_old_checkpoints_go_when_asked_for_and_tasks_never(home: Home, env, tmp_path: Path) -> None:
    for name in ("old", "new"):
        await checkpoint(home, tmp_path / "work", name)
        task(home, name)
    aged(home.log("old"))
    plan = storage.plan_pruning(env, older=30 * 86400)
    assert [(one.task, one.count) for one in plan.checkpoints] == [("old", 1)]
    storage.prune_storage(env, plan)
    assert home.log("old").exists()
    assert not storage.plan_pruning(env, older=30 * 86400)


@pytest.mark.process
async def test_a_store_that_was_put_aside_as_damaged_is_freed(home: Home, env, tmp_path: Path) -> None:
    await checkpoint(home, tmp_path / "work", "t1")
    task(home, "t1")
    (path,) = [place for place in home.checkpoints.iterdir() if place.is_dir()]
    path.rename(path.with_name(f"{path.name}.damaged-1.000"))
    plan = storage.plan_pruning(env)
    assert [store.workspace for store in plan.damaged] == [str(tmp_path / "work")]
    storage.prune_storage(env, plan)
    assert storage.measure_storage(env).stores == ()
