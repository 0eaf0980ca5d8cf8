"""Labels of tasks that another process has open."""

import asyncio
from pathlib import Path

import pytest

from halocline.protocol.commands import Label
from halocline.protocol.errors import TaskBusy
from halocline.protocol.events import TaskLabelled
from halocline.services.tasks import TaskService
from halocline.store.paths import Home
from halocline.task.log import Log, read_log


async def test_a_writer_that_has_no_socket_yet_is_waited_for(tmp_path: Path) -> None:
    home = Home(tmp_path)
    writer = Log(home.task("t"), "t")
    writer.append(TaskLabelled(name="old"))
    labelling = asyncio.create_task(TaskService(home, 30).label(Label(task="t", name="new"), "test"))
    await asyncio.sleep(0.2)
    assert not labelling.done()
    writer.close()
    await labelling
    assert [event.name for event in read_log(home.log("t"))] == ["old", "new"]


@pytest.mark.slow
async def test_a_writer_that_never_opens_a_socket_is_named(tmp_path: Path) -> None:
    home = Home(tmp_path)
    writer = Log(home.task("t"), "t")
    with pytest.raises(TaskBusy, match=r"pid \d+\), which accepts no connection"):
        await TaskService(home, 30).label(Label(task="t", name="new"), "test")
    writer.close()
