"""A task that one process deletes while others find, read, label, open and delete it."""

import asyncio
import threading
from contextlib import suppress

import pytest
from tests.journeys.conftest import Journey
from tests.samples import choose

from halocline.client.options import TaskOptions
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError, TaskNotFound
from halocline.providers.scripted.script import Turn
from halocline.services.tasks import TaskService
from halocline.store.paths import Home
from halocline.task.log import Log, Tail, follow_log, read_log
from halocline.task.log_mending import mend_log

DONE = Turn(text="done")


async def read_first(events):
    return await anext(events)


@pytest.fixture
def journey(tmp_path):
    return Journey(tmp_path)


async def test_whoever_opens_a_log_that_is_gone_learns_that_the_task_was_deleted(tmp_path):
    home = Home(tmp_path)
    service = TaskService(home, 30)
    openings = [
        lambda: Log(home.task("t"), "t", goes_on=True),
        lambda: list(read_log(home.log("t"))),
        lambda: Tail(home.log("t")).read(),
        lambda: mend_log(home.log("t")),
        lambda: service.folders("t"),
        lambda: service.delete("t"),
        lambda: service.forget("t"),
        lambda: asyncio.run(read_first(follow_log(home.log("t")))),
        lambda: asyncio.run(service.label(cmd.Label(task="t", name="new"), "test")),
    ]
    for opening in openings:
        with pytest.raises(TaskNotFound, match=r"Task t was deleted meanwhile\."):
            await asyncio.to_thread(opening)
    assert not home.task("t").exists()


async def test_one_who_follows_a_task_learns_that_it_was_deleted(journey):
    await journey.run(DONE)
    tail = Tail(journey.home.log(journey.task))
    assert tail.read()
    TaskService(journey.home, 30).delete(journey.task)
    with pytest.raises(TaskNotFound, match="was deleted meanwhile"):
        tail.read()


@pytest.mark.slow
async def test_racing_a_deletion_ends_well_or_with_words_and_leaves_no_other_folder(journey):
    await journey.run(DONE)
    task, service, is_over = journey.task, TaskService(journey.home, 30), threading.Event()

    def delete_and_restore() -> None:
        while not is_over.is_set():
            for step in (service.delete, service.undelete):
                with suppress(HaloclineError):
                    step(task)

    client = journey.client([DONE])
    racing = [asyncio.create_task(asyncio.to_thread(delete_and_restore)) for _ in range(2)]
    found = 0
    try:
        for turn in range(choose(400, 60)):
            with suppress(HaloclineError):
                match turn % 6:
                    case 0:
                        await client.resume(task, TaskOptions())
                        await client.close()
                        client = journey.client([DONE])
                    case 1:
                        found += bool(client.past(task))
                    case 2:
                        await client.label(cmd.Label(task=client.find(task), name="new"))
                    case 3:
                        client.tasks.folders(client.find(task))
                    case 4:
                        client.time.points(task)
                    case 5:
                        await client.join(task, TaskOptions(attended=True))
                        await client.close()
                        client = journey.client([DONE])
    finally:
        is_over.set()
        await asyncio.gather(*racing)
        await client.close()
    with suppress(HaloclineError):
        service.undelete(task)
    assert [entry.name for entry in journey.home.tasks.iterdir()] == [task]
    assert [event.seq for event in journey.logged][:2] == [1, 2]
