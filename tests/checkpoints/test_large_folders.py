import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench

from halocline.checkpoints.index import index
from halocline.checkpoints.index.background_reading import LATE, READY
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.shadow_git import WAITS
from halocline.checkpoints.store import layout
from halocline.checkpoints.store.git import Git, Runner, TakesLong
from halocline.checkpoints.store.lock import hold_lock
from halocline.protocol.events import CheckpointTaken

SOON = Limits(seconds=0.1)
UNTIL_THEN = "Changes made before that cannot be undone."


def store_of(bench: Bench) -> Git:
    store = bench.store / "one"
    bench.store.mkdir(parents=True)
    layout.prepare_store(store, bench.workspace)
    return Git("git", store, bench.workspace, time.monotonic() + 60, Runner())


@contextmanager
def kept_busy(bench: Bench) -> Iterator[None]:
    """Hold the store, as another process does that saves: then no checkpoint is ready in time."""
    lock = bench.shadow()._repository.path.with_suffix(".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with hold_lock(lock, time.monotonic() + 5, lambda: None):
        yield


def write_large_files(bench: Bench, count: int) -> None:
    for n in range(count):
        bench.write(f"{n}.txt", os.urandom(4_900_000))


async def test_nobody_waits_for_a_folder_that_takes_too_long_and_its_checkpoint_comes_later(bench: Bench) -> None:
    bench.write("a.txt", "one")
    with kept_busy(bench):
        shadow = await bench.begun(limits=SOON)
    await bench.told(READY)
    await shadow.close()
    assert bench.taken == ["Start"]
    assert bench.saved(1) == {"a.txt"}
    assert bench.notices[0].startswith("Checkpoints will be ready in a while:")
    assert bench.notices[0].endswith(UNTIL_THEN)


async def test_a_checkpoint_that_is_taken_after_changes_says_so(bench: Bench) -> None:
    bench.write("a.txt", "one")
    with kept_busy(bench):
        shadow = await bench.begun(limits=SOON)
        await shadow.barrier()
        bench.write("a.txt", "two")
        shadow.take("a command")
    await bench.told(READY)
    plan = await shadow.plan("1")
    await shadow.close()
    taken = [event for event in bench.events if isinstance(event, CheckpointTaken)]
    assert [(event.is_late, event.label) for event in taken] == [(True, f"Start; a command{LATE}")]
    assert plan.late == (str(bench.workspace),)
    assert plan.changes == 0


async def test_a_command_that_deletes_files_waits_for_a_late_checkpoint_however_long_it_takes(bench: Bench) -> None:
    bench.write("a.txt", "one")
    with kept_busy(bench):
        shadow = await bench.begun(limits=SOON)
        waiting = asyncio.create_task(shadow.barrier(destroys=True))
        await bench.told(WAITS)
        await asyncio.sleep(0.3)
        assert not waiting.done()
    await waiting
    (bench.workspace / "a.txt").unlink()
    shadow.take("a command")
    await shadow.restore("1")
    await shadow.close()
    assert (bench.workspace / "a.txt").read_text() == "one"


async def test_a_task_that_is_closed_ends_the_wait_of_a_command(bench: Bench) -> None:
    bench.write("a.txt", "one")
    with kept_busy(bench):
        shadow = await bench.begun(limits=SOON)
        waiting = asyncio.create_task(shadow.barrier(destroys=True))
        await bench.told(WAITS)
        await shadow.close()
        await waiting


async def test_what_changes_once_checkpoints_are_ready_can_be_put_back(bench: Bench) -> None:
    bench.write("a.txt", "one")
    with kept_busy(bench):
        shadow = await bench.begun(limits=Limits(seconds=1))
        await shadow.barrier()
        bench.write("a.txt", "two")
        shadow.take("a command")
    await bench.told(READY)
    await shadow.barrier()
    bench.write("a.txt", "three")
    shadow.take("another")
    await shadow.restore("1")
    await shadow.close()
    assert (bench.workspace / "a.txt").read_text() == "two"


async def test_a_task_that_is_closed_does_not_wait_for_the_reading(bench: Bench) -> None:
    bench.write("a.txt", "one")
    with kept_busy(bench):
        shadow = await bench.begun(limits=SOON)
        await shadow.close()
    assert bench.taken == []


async def test_what_was_read_of_a_large_folder_is_not_read_again(bench: Bench) -> None:
    write_large_files(bench, 5)
    git = store_of(bench)
    wanted, _ = index.scan_index(git, 5_000_000)
    with pytest.raises(TakesLong) as late:
        index.add_paths(git, wanted, 5_000_000, lambda seconds: False)
    left, _ = index.scan_index(git, 5_000_000)
    assert 0 < len(left) < len(wanted)
    assert layout.read_unread(git.store) == len(left)
    assert late.value.text == f"{len(left)} files of this folder must still be read"


async def test_a_folder_that_is_not_read_wholly_is_told_of_until_it_is(bench: Bench) -> None:
    bench.write("a.txt", "one")
    shadow = bench.shadow()
    place = Path(shadow._repository.path)
    place.mkdir(parents=True)
    layout.note_unread(place, 12_345)
    assert bench.shadow().unread.startswith("12,345 files of this folder must still be read before")
    shadow.begin(bench.events.append)
    await shadow.settle()
    assert bench.shadow().unread == ""


async def test_a_folder_that_cannot_be_read_in_the_background_either_has_no_checkpoints(
    bench: Bench, tmp_path: Path
) -> None:
    slow = tmp_path / "slow-git"
    slow.write_text('#!/bin/sh\ncase "$1" in ls-files) exec sleep 60;; esac\nexec git "$@"\n')
    slow.chmod(0o755)
    shadow = await bench.begun(program=str(slow), limits=Limits(seconds=0.2, patience=0.5))
    await bench.told("Checkpoints are off: this folder's files take too long to read. Exclude folders")
    shadow.take("dropped")
    await shadow.settle()
    assert len(bench.notices) == 2
    assert bench.taken == []
