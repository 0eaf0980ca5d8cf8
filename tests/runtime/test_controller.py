import asyncio
import os
import threading
from pathlib import Path

import pytest

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import SettingsError, TaskBusy, TaskNotFound, UsageError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import StopReason, Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

pytestmark = pytest.mark.process

DONE = Turn(text="done")
WRITE = Turn(calls=(Call("read_file", {"path": "a.txt"}), Call("write_to_file", {"path": "a.txt", "content": "two\n"})))


def shell(command):
    return Turn(calls=(Call("execute_command", {"command": command, "requires_approval": False}),))


def plain_client(journey, **settings):
    """A client whose models are those that the options name."""
    return Client(Controller(Assembly(journey.home, Settings(checkpoints=False, **settings), {})), "test")


async def after_resume(journey, client, **options):
    """What opening a task again writes."""
    before = len(journey.logged)
    await client.resume(journey.task, TaskOptions(**options))
    await client.close()
    return journey.logged[before:]


async def test_a_task_begins_with_what_was_chosen_for_it(journey, script):
    client = plain_client(journey)
    chosen = TaskOptions(model=script("one", "hello"), mode=Mode.PLAN, approval_mode=ApprovalMode.AUTO)
    await journey.open(client, chosen)
    await client.close()
    (started,) = journey.logged
    assert (started.model, started.mode, started.approval_mode) == (chosen.model, "plan", "auto")
    assert started.workspace == str(journey.workspace)


@pytest.mark.parametrize("model", ["anthropic/any", "nobody/any", "scripted/missing.toml", "openai"])
async def test_nothing_is_written_when_the_model_cannot_be_used(journey, model):
    client = plain_client(journey)
    with pytest.raises((UsageError, SettingsError)):
        await client.start(journey.workspace, TaskOptions(model=model))
    await client.close()
    assert list(journey.home.tasks.iterdir()) == []


async def test_a_task_that_is_opened_again_stays_as_it_was(journey):
    await journey.run(DONE)
    assert await after_resume(journey, journey.client([DONE])) == []


async def test_what_is_chosen_on_opening_a_task_again_is_written_down(journey, script):
    client = plain_client(journey)
    await journey.run(client=client, options=TaskOptions(model=script("one", "hello")))
    two = script("two", "hello")
    changes = await after_resume(
        journey,
        plain_client(journey),
        model=two,
        mode=Mode.PLAN,
        approval_mode=ApprovalMode.YOLO,
    )
    assert [type(event) for event in changes] == [ev.ModelChanged, ev.ModeChanged, ev.PolicyChanged]
    assert [changes[0].model, changes[1].mode, changes[2].approval_mode] == [two, "plan", "yolo"]


async def test_choosing_what_already_holds_writes_nothing(journey):
    await journey.run(DONE, options=TaskOptions(approval_mode=ApprovalMode.AUTO))
    client = journey.client([DONE])
    assert await after_resume(journey, client, mode=Mode.ACT, approval_mode=ApprovalMode.AUTO) == []


async def test_a_task_that_cannot_be_opened_with_a_model_can_be_with_another(journey, script):
    model = script("one", "hello")
    await journey.run(client=plain_client(journey), options=TaskOptions(model=model))
    client = plain_client(journey)
    with pytest.raises(UsageError):
        await client.resume(journey.task, TaskOptions(model="anthropic/any"))
    await client.resume(journey.task, TaskOptions(model=model))
    await client.close()


async def test_a_second_controller_cannot_open_or_delete_an_open_task(journey):
    client, other = journey.client([DONE]), journey.client([DONE])
    await journey.open(client)
    with pytest.raises(TaskBusy):
        await other.resume(journey.task, TaskOptions())
    with pytest.raises(TaskBusy):
        other.tasks.delete(journey.task)
    await client.close()
    await other.close()


async def test_a_task_that_is_not_open_takes_no_commands(journey):
    await journey.run(DONE)
    with pytest.raises(TaskNotFound):
        journey.client([DONE]).send(cmd.Interrupt(task=journey.task))


@pytest.mark.parametrize("is_open", [True, False])
async def test_restoring_a_checkpoint_is_written_into_the_log_of_its_task(journey, is_open):
    path = journey.write("a.txt", "one\n")
    client = journey.client([WRITE, DONE])
    await journey.open(client)
    await journey.prompt(client)
    if not is_open:
        await client.close()
    (start, *_) = await client.checkpoints(journey.workspace).list(journey.task)
    restored = await client.time.restore(journey.workspace, start.sha)
    await client.close()
    assert path.read_text() == "one\n"
    note = journey.logged[-1]
    assert isinstance(note, ev.CheckpointRestored)
    assert (note.checkpoint, note.undo, note.changed) == (start.sha, restored.undo, ("a.txt",))
    assert note.seq == len(journey.logged)


async def test_events_after_a_number_come_without_gap_from_disk_and_then_live(journey):
    await journey.run(DONE)
    client = journey.client([DONE, DONE])
    await journey.open(client, resume=journey.task)
    await journey.prompt(client, after=3)
    await client.close()
    numbers = [event.seq for event in journey.events if isinstance(event, ev.Durable)]
    assert numbers == list(range(4, numbers[-1] + 1))
    assert len(journey.of(ev.TurnEnded)) == 2


async def test_who_begins_to_listen_after_the_end_hears_the_past_and_then_the_end(journey):
    client = journey.client([DONE])
    await journey.open(client)
    await journey.prompt(client)
    client.send(cmd.CloseTask(task=journey.task))
    async with asyncio.timeout(5):
        assert [event async for event in client.events(journey.task)]
        heard = [event async for event in client.events(journey.task)]
    await client.close()
    assert [event.seq for event in heard] == list(range(1, len(heard) + 1))


async def test_closing_twice_is_the_same_as_once(journey):
    client = journey.client([DONE])
    await journey.open(client)
    await client.close()
    await client.close()


async def test_a_prompt_that_still_waits_is_not_taken_up_on_closing(journey):
    client = journey.client([shell("touch made")])
    await journey.open(client)
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("go"),)))
    await client.close()
    assert not (journey.workspace / "made").exists()
    assert [event for event in journey.logged if isinstance(event, ev.TurnStarted)] == []


async def test_closing_ends_a_running_turn_as_interrupted(journey):
    client = journey.client([shell("echo ready; sleep 60")])
    await journey.open(client)
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("go"),)))
    async with asyncio.timeout(10):
        async for event in client.events(journey.task):
            if isinstance(event, ev.ToolCallProgressed):
                break
        await client.close()
    ends = [event.reason for event in journey.logged if isinstance(event, ev.TurnEnded)]
    assert ends == [StopReason.CANCELLED]


def test_nothing_runs_any_more_after_closing(journey):
    journey.write("a.txt", "one\n")
    threads, children = set(threading.enumerate()), children_of_this_process()

    async def live():
        await journey.run(WRITE, shell("sleep 60 > /dev/null & echo started"), DONE)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(live()) == set()
    assert set(threading.enumerate()) == threads
    assert children_of_this_process() == children
    assert journey.state.last_end.reason is StopReason.END_TURN


def children_of_this_process():
    """Those that run or wait to be collected."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return {child for child, parent in parents.items() if parent == os.getpid()}


@pytest.mark.parametrize("name", ["", "a/b", "..", "nosuch", "own"])
async def test_a_prompt_waits_for_no_task_that_cannot_end(journey, name):
    client = journey.client([DONE])
    await journey.open(client)
    task = journey.task
    command = cmd.SubmitPrompt(task=task, content=(Text("go"),), after=(task if name == "own" else name,))
    with pytest.raises((TaskNotFound, UsageError)):
        client.send(command)
    assert client.state(task).queue.messages == ()
    await client.close()


async def test_a_log_that_names_what_can_be_no_task_holds_its_prompt(journey):
    client = journey.client([DONE])
    await journey.open(client)
    task = journey.task
    client._controller.task(task).emit(ev.MessageQueued(content=(Text("go"),), after=("a/b", "")))
    await client.close()
    client = journey.client([DONE])
    await client.resume(task, TaskOptions())
    async with asyncio.timeout(20):
        while not client.state(task).queue.refused:
            await asyncio.sleep(0.02)
    assert "a/b cannot be read" in client.state(task).queue.refused.reason
    await client.close()
