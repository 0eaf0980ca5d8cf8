import asyncio
from pathlib import Path

import pytest
from tests.conformance.memory_files import MemoryFiles

from halocline.ports.host import FileWrite
from halocline.task.calls.held_files import HeldFiles

PLACE = Path("/w/a.txt")


async def begun(coroutine) -> "asyncio.Task[None]":
    task = asyncio.ensure_future(coroutine)
    for _ in range(3):
        await asyncio.sleep(0)
    return task


def files() -> MemoryFiles:
    return MemoryFiles({PLACE: b"old"})


async def test_files_are_read_while_changes_wait():
    held = HeldFiles(files(), asyncio.get_running_loop().create_future)
    assert await held.read(PLACE, 10) == b"old"
    assert (await held.info(PLACE)).size == 3
    assert await held.only(lambda path: True).read(PLACE, 10) == b"old"


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.write(PLACE, b"new", b"old"),
        lambda held: held.write_all([FileWrite(PLACE, b"new", b"old")]),
        lambda held: held.only(lambda path: True).write(PLACE, b"new", b"old"),
    ],
)
async def test_each_change_waits_until_it_is_admitted(change):
    memory, safe = files(), asyncio.get_running_loop().create_future()
    held = HeldFiles(memory, lambda: safe)
    writing = await begun(change(held))
    assert await memory.read(PLACE, 10) == b"old"
    safe.set_result(None)
    await writing
    assert await memory.read(PLACE, 10) == b"new"


async def test_what_is_not_admitted_changes_nothing():
    memory, safe = files(), asyncio.get_running_loop().create_future()
    safe.set_exception(OSError("the disk is full"))
    with pytest.raises(OSError, match="full"):
        await HeldFiles(memory, lambda: safe).write(PLACE, b"new", b"old")
    assert await memory.read(PLACE, 10) == b"old"
