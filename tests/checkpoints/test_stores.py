import asyncio
import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, contents, git

from halocline.checkpoints.repository import stores


def objects(bench: Bench) -> set[str]:
    listing = git(
        bench.workspace,
        f"--git-dir={bench.repository}",
        "cat-file",
        "--batch-all-objects",
        "--batch-check=%(objectname)",
    )
    return set(listing.split())


async def taken(bench: Bench, task: str, count: int) -> None:
    shadow = await bench.begun(task)
    for n in range(count - 1):
        bench.write("a.txt", f"{task} {n}\n" * 100)
        shadow.take(f"edit {n}", ["a.txt"])
        await shadow.settle()
    await shadow.close()


def test_a_folder_takes_what_du_says(tmp_path: Path) -> None:
    for n in range(30):
        (tmp_path / f"f{n}").write_bytes(b"x" * n * 1000)
    folder = int(subprocess.check_output(["du", "-s", "--block-size=1", tmp_path]).split()[0])
    assert stores.disk_size(tmp_path) == folder - tmp_path.stat().st_blocks * 512


async def test_stores_say_whose_checkpoints_they_hold(bench: Bench) -> None:
    bench.write("a.txt", "a")
    await taken(bench, "t1", 3)
    await taken(bench, "t2", 2)
    (store,) = stores.list_stores(bench.store)
    assert store.workspace == str(bench.workspace)
    assert [(task.task, task.numbers) for task in store.tasks] == [("t1", (1, 2, 3)), ("t2", (1, 2))]
    assert store.size == stores.disk_size(bench.repository)


async def test_giving_up_a_task_frees_what_was_its_own_and_keeps_the_others(bench: Bench) -> None:
    bench.write("a.txt", "a")
    await taken(bench, "t1", 1)
    before = objects(bench)
    await taken(bench, "t2", 4)
    bench.write("a.txt", "a")
    await taken(bench, "t3", 1)
    stores.give_up(bench.repository, {"t2": 0}, 10)
    stores.collect_garbage(bench.repository, 10)
    shadow = bench.shadow("t1")
    assert [info.task for info in await shadow.list()] == ["t1", "t3"]
    # What is left: the first one, and the commit of the third.
    assert len(objects(bench) - before) <= 1 + len({"blob of the index", "tree of the index"})
    assert git(bench.workspace, f"--git-dir={bench.repository}", "fsck", "--strict", "--no-dangling") == ""


async def test_the_newest_checkpoints_stay_and_can_be_restored(bench: Bench) -> None:
    bench.write("a.txt", "a")
    await taken(bench, "t1", 6)
    before = len(objects(bench))
    stores.give_up(bench.repository, {"t1": 2}, 10)
    stores.collect_garbage(bench.repository, 10)
    shadow = bench.shadow("t1")
    assert [info.n for info in await shadow.list("t1")] == [5, 6]
    assert len(objects(bench)) <= before - 3 * 4
    await shadow.restore("t1/5", overwrite=True)
    assert contents(bench.workspace) == {"a.txt": ("file", b"t1 3\n" * 100)}


async def test_a_task_goes_on_after_its_checkpoints_were_given_up(bench: Bench) -> None:
    bench.write("a.txt", "a")
    shadow = await bench.begun()
    repository = bench.repository
    stores.give_up(repository, {"t1": 0}, 10)
    stores.collect_garbage(repository, 10)
    bench.write("a.txt", "b")
    shadow.take("edit", ["a.txt"])
    await shadow.settle()
    assert bench.taken == ["Start", "edit"]
    assert bench.notices == []
    assert git(bench.workspace, f"--git-dir={bench.repository}", "fsck", "--strict", "--no-dangling") == ""


async def test_a_busy_store_is_left_alone(bench: Bench) -> None:
    await bench.begun()
    lock = bench.repository.with_suffix(".lock")
    with stores.lock.hold_lock(lock, time.monotonic() + 10, lambda: None), pytest.raises(TimeoutError):
        stores.give_up(bench.repository, {"t1": 0}, 0)
    assert len(await bench.shadow().list()) == 1


async def test_a_store_that_holds_nothing_any_more_goes_as_a_whole(bench: Bench) -> None:
    bench.write("a.txt", "a")
    await taken(bench, "t1", 2)
    stores.forget_task(bench.store, "t1")
    assert stores.list_stores(bench.store) == []


async def test_beyond_the_quota_the_oldest_tasks_lose_their_checkpoints_and_the_present_one_never(bench: Bench) -> None:
    for n in range(4):
        bench.write("a.txt", random.Random(n).randbytes(2_000_000))
        await taken(bench, f"t{n}", 1)
        past = time.time() - 1000 * (5 - n)
        os.utime(bench.repository / f"refs/halocline/t{n}/1", (past, past))
    shadow = await bench.begun("now", idle=0, quota=5_000_000)
    async with asyncio.timeout(30):
        while not bench.notices:
            await asyncio.sleep(0.01)
    await shadow.close()
    assert [task.task for task in stores.list_stores(bench.store)[0].tasks] == ["t2", "t3", "now"]
    assert bench.notices == ["Checkpoints took more than 5 MB: those of the 2 oldest tasks were deleted."]
    assert stores.total_size(stores.list_stores(bench.store)) <= 5_000_000


async def test_a_quota_that_the_present_task_alone_exceeds_takes_nothing_from_it(bench: Bench) -> None:
    bench.write("a.txt", os.urandom(200_000))
    assert stores.keep_within(bench.store, 0, "t1", 5, stores.Runner()) == 0
    await taken(bench, "t1", 1)
    assert stores.keep_within(bench.store, 1, "t1", 5, stores.Runner()) == 0
    assert bench.saved(1) == {"a.txt"}


async def test_stores_that_are_far_below_the_quota_are_measured_once_an_hour(bench: Bench) -> None:
    bench.write("a.txt", os.urandom(200_000))
    await taken(bench, "t1", 1)
    assert stores.keep_within(bench.store, 10_000_000, "other", 5, stores.Runner()) == 0
    kept = bench.store / stores.MEASURED
    kept.write_text("9000000")
    assert stores.keep_within(bench.store, 10_000_000, "other", 5, stores.Runner()) == 0
    assert 200_000 < int(kept.read_text()) < 9_000_000
    kept.write_text("1")
    assert stores.keep_within(bench.store, 1_000, "other", 5, stores.Runner()) == 0
    assert kept.read_text() == "1"
    os.utime(kept, (0, 0))
    assert stores.keep_within(bench.store, 1_000, "other", 5, stores.Runner()) == 1
