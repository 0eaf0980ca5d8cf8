import asyncio
import os
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench

from halocline.checkpoints.saved import Limits


def slow_git(bench: Bench, folder: Path) -> tuple[Path, Path]:
    """A program that tells its process id through a pipe and then hangs; and the pipe."""
    pipe = folder / "started"
    os.mkfifo(pipe)
    program = folder / "slow-git"
    program.write_text(f'#!/bin/sh\necho $$ > "{pipe}"\nexec sleep 1000\n')
    program.chmod(0o755)
    return program, pipe


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_change_after_the_barrier_is_not_in_the_checkpoint(bench: Bench) -> None:
    for n in range(300):
        bench.write(f"f{n}.txt", "before")
    shadow = bench.shadow()
    shadow.begin(bench.events.append)
    await shadow.barrier()
    for n in range(300):
        bench.write(f"f{n}.txt", "after")
    bench.write("late.txt", "late")
    await shadow.settle()
    shadow.take("now")
    await shadow.settle()
    assert (await shadow.diff("1", "2")).count("-before") == 300
    assert "late.txt" not in bench.saved(1)


async def test_every_edit_between_two_barriers_is_in_its_own_checkpoint(bench: Bench) -> None:
    shadow = bench.shadow()
    shadow.begin(bench.events.append)
    for n in range(5):
        await shadow.barrier()
        bench.write("a.txt", str(n))
        shadow.take(f"edit {n}", ["a.txt"])
    await shadow.settle()
    assert bench.taken == ["Start", "edit 0", "edit 1", "edit 2", "edit 3", "edit 4"]
    diffs = [await shadow.diff(str(n), str(n + 1)) for n in range(1, 6)]
    assert [diff.splitlines()[-2] for diff in diffs] == ["+0", "+1", "+2", "+3", "+4"]


async def test_the_first_checkpoint_waits_until_it_is_needed_or_its_time_has_come(bench: Bench) -> None:
    shadow = bench.shadow(delay=3600)
    shadow.begin(bench.events.append)
    await asyncio.sleep(0)
    assert not bench.store.exists()
    await shadow.barrier()
    assert bench.store.exists()
    await shadow.settle()
    assert bench.taken == ["Start"]


async def test_a_checkpoint_lets_the_next_request_go_first_unless_somebody_waits_for_it(bench: Bench) -> None:
    bench.write("a.txt", "one")
    shadow = await bench.begun(pause=600)
    bench.write("a.txt", "two")
    shadow.take("edit")
    await asyncio.sleep(0.2)
    assert bench.taken == ["Start"]
    await shadow.barrier()
    await shadow.settle()
    assert bench.taken == ["Start", "edit"]


async def test_the_first_checkpoint_starts_by_itself(bench: Bench) -> None:
    done = asyncio.Event()
    shadow = bench.shadow(delay=0.001)
    shadow.begin(lambda event: done.set())
    await done.wait()
    assert len(await shadow.list()) == 1


async def test_what_is_asked_for_while_one_is_saved_becomes_one_checkpoint(bench: Bench) -> None:
    shadow = await bench.begun()
    for name in ("a", "b", "b"):
        bench.write(f"{name}.txt", name)
        shadow.take(f"edit {name}", [f"{name}.txt"])
    await shadow.settle()
    assert bench.taken == ["Start", "edit a; edit b"]
    assert bench.saved(2) == {"a.txt", "b.txt"}


async def test_giving_up_waiting_does_not_stop_the_work(bench: Bench) -> None:
    bench.write("a.txt", "a")
    shadow = bench.shadow()
    shadow.begin(bench.events.append)
    waiters = [asyncio.create_task(shadow.barrier()), asyncio.create_task(shadow.settle())]
    await asyncio.sleep(0)
    for waiter in waiters:
        waiter.cancel()
    await asyncio.gather(*waiters, return_exceptions=True)
    await shadow.settle()
    assert bench.taken == ["Start"]


async def test_waiting_for_nothing_takes_no_time(bench: Bench) -> None:
    shadow = await bench.begun()
    for waiting in (shadow.barrier(()), shadow.settle(), shadow.close()):
        with pytest.raises(StopIteration):
            waiting.send(None)


async def test_a_label_may_hold_anything(bench: Bench) -> None:
    shadow = await bench.begun()
    bench.write("a.txt", "a")
    shadow.take("sed 's/\u2028/\0/'\x0b -i å", ["a.txt"])
    await shadow.settle()
    assert [info.n for info in await shadow.list()] == [1, 2]


async def test_a_checkpoint_without_begin_is_whole(bench: Bench) -> None:
    bench.write("a.txt", "a")
    bench.write("b.txt", "b")
    shadow = bench.shadow()
    shadow.take("edit", ["a.txt"])
    await shadow.settle()
    assert bench.saved(1) == {"a.txt", "b.txt"}


async def test_closing_ends_the_git_that_runs(bench: Bench, tmp_path: Path) -> None:
    program, pipe = slow_git(bench, tmp_path)
    shadow = bench.shadow(program=str(program))
    shadow.begin(bench.events.append)
    waiting = asyncio.create_task(shadow.barrier())
    process = int(await asyncio.to_thread(pipe.read_text))
    shadow.take("dropped")
    await shadow.close()
    await waiting
    assert not is_alive(process)
    assert bench.events == []


async def test_the_git_of_a_first_checkpoint_that_takes_too_long_is_killed(bench: Bench, tmp_path: Path) -> None:
    program, pipe = slow_git(bench, tmp_path)
    shadow = bench.shadow(program=str(program), limits=Limits(seconds=0.2))
    shadow.begin(bench.events.append)
    waiting = asyncio.create_task(shadow.barrier())
    process = int(await asyncio.to_thread(pipe.read_text))
    await waiting
    await shadow.settle()
    assert not is_alive(process)
    await shadow.close()
