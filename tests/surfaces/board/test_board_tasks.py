import asyncio

import pytest
from tests.surfaces.cli.halo_process import Halo

from halocline.client.tasks import Client
from halocline.protocol.events import DurableEvent
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings
from halocline.surfaces.board.tasks import BoardTasks
from halocline.task.lock import give_back, take_lock

pytestmark = [pytest.mark.process, pytest.mark.slow]


class Reading(Client):
    """A client that counts the logs that are read."""

    count = 0

    def past(self, task: str) -> list[DurableEvent]:
        self.count += 1
        return super().past(task)


async def test_a_damaged_log_of_an_open_task_is_read_once_until_it_changes(halo: Halo) -> None:
    assert (await halo.run("-p", "-m", halo.script({"text": "Hello."}), "go")).code == 0
    (log,) = (halo.home / "tasks").glob("*/events.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:2], *lines[3:-1]]))
    lock = take_lock(log.parent, log.parent.name)
    client = Reading(Controller(Assembly(Home(halo.home), Settings(), {})), "test")
    tasks = BoardTasks(client, lambda: None, lambda problem: None)
    try:
        for _ in range(4):
            await tasks.refresh()
            await asyncio.gather(*followers())
        assert client.count == 1
        log.write_bytes(b"".join(lines))
        await tasks.refresh()
        async with asyncio.timeout(20):
            while client.count < 2:
                await asyncio.sleep(0.01)
    finally:
        for follower in followers():
            follower.cancel()
        give_back(lock)
        await client.close()


def followers() -> list[asyncio.Task[object]]:
    return [job for job in asyncio.all_tasks() if job.get_name().startswith("board")]
