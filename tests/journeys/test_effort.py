"""A task's own effort: it goes before the settings', survives, and is told with its price."""

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Effort, Usage
from halocline.providers.scripted.model import Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.tasks.recording import read_recording

DONE = Turn(text="done")


def asked(path):
    """How hard each recorded request asks the model to think."""
    return [(request.effort, request.thinking_budget) for request in read_recording(path).requests.values()]


async def test_an_effort_of_its_own_goes_before_the_settings_in_both_modes_until_it_is_taken_back(journey, tmp_path):
    record = tmp_path / "recording"
    client = journey.client([DONE] * 4, effort=Effort.LOW)
    await journey.open(client, TaskOptions(record=record))
    await journey.prompt(client, after=0)
    assert client.send(cmd.SetEffort(task=journey.task, effort=Effort.MAX))
    client.send(cmd.SetEffort(task=journey.task, effort=Effort.MAX))
    client.send(cmd.SetMode(task=journey.task, mode=Mode.PLAN))
    await journey.prompt(client)
    client.send(cmd.SetEffort(task=journey.task, budget=0))
    await journey.prompt(client)
    client.send(cmd.SetEffort(task=journey.task))
    await journey.prompt(client, after=0)
    await client.close()
    assert asked(record) == [(Effort.LOW, None), (Effort.MAX, None), (None, 0), (Effort.LOW, None)]
    changes = [(event.effort, event.budget) for event in journey.of(ev.EffortChanged)]
    assert changes == [(Effort.MAX, None), (None, 0), (None, None)]
    assert [kind for kind in journey.kinds if kind not in ("ToolsOffered", "CheckpointTaken")] == [
        "TaskStarted",
        *TURN,
        "EffortChanged",
        "ModeChanged",
        *TURN,
        "EffortChanged",
        *TURN,
        "EffortChanged",
        *TURN,
    ]


TURN = ["TurnStarted", "StepStarted", "UsageReported", "AssistantMessageCompleted", "TurnEnded"]


async def test_a_resumed_task_keeps_its_effort_unless_another_is_named(journey, tmp_path):
    client = journey.client([DONE])
    await journey.open(client)
    client.send(cmd.SetEffort(task=journey.task, effort=Effort.HIGH))
    await journey.prompt(client)
    await client.close()
    await journey.run(DONE, resume=journey.task)
    assert journey.state.model.effort is Effort.HIGH
    await journey.run(DONE, resume=journey.task, options=TaskOptions(effort=Effort.LOW))
    assert journey.state.model.effort is Effort.LOW
    assert [event.effort for event in journey.of(ev.EffortChanged)] == [Effort.HIGH, Effort.LOW]


async def test_the_cache_report_names_a_changed_effort(journey):
    client = journey.client([Turn(text="one", usage=Usage(input=5_000)), Turn(text="two", usage=Usage(input=5_000))])
    await journey.open(client)
    await journey.prompt(client)
    client.send(cmd.SetEffort(task=journey.task, effort=Effort.HIGH))
    await journey.prompt(client)
    await client.close()
    whys = [miss.why for miss in journey.client([]).cache(journey.task).misses]
    assert whys == ["the thinking effort or budget changed"]
