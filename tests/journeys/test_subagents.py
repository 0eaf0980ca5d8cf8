"""Sub-agents: whole tasks with children, each with a script of its own."""

import asyncio

import pytest

from halocline.controller.client import Client
from halocline.controller.controller import Controller, TaskOptions
from halocline.controller.replay import replay
from halocline.controller.assembly import Assembly
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.messages import Text, Usage
from halocline.protocol.subtasks import LaneEnd, SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.tasks import TaskQuery
from halocline.providers.retry import Retrying
from halocline.providers.scripted import Call, Scripted, Turn
from halocline.store.recording import Recording
from halocline.store.settings import Settings
from halocline.task.log import read
from tests.journeys.conftest import NO_SERVERS, Journey, _no_wait

DONE = Turn(text="All is known.")


class Scripts(Assembly):
    """The first model that is opened plays the parent's script, each further one the next child's."""

    def __init__(self, home, settings, *scripts):
        super().__init__(home, settings, {})
        self._scripts = iter(scripts)

    async def model(self, named):
        return Retrying(Scripted(next(self._scripts), named or "scripted/parent"), sleep=_no_wait)


def client_of(journey: Journey, *scripts, **settings) -> Client:
    journey.settings = Settings(**{"language_servers": NO_SERVERS, "subagents": "on", **settings})
    return Client(Controller(Scripts(journey.home, journey.settings, *scripts)), "test")


def asks(*prompts: str, **more) -> Turn:
    return Turn(calls=(Call("use_subagents", {"agents": [{"prompt": prompt, **more} for prompt in prompts]}),))


def reports(text: str, **more) -> Turn:
    return Turn(calls=(Call("attempt_completion", {"result": text}),), **more)


def log_of(journey: Journey, task: str) -> list[ev.DurableEvent]:
    return list(read(journey.home.log(task)))


async def test_each_child_is_a_task_of_its_own_whose_report_the_parent_reads(journey: Journey):
    journey.write("a.py", "ALPHA = 1\n")
    first = (Turn(calls=(Call("read_file", {"path": "a.py"}),)), reports("ALPHA is 1 (a.py:1)"))
    client = client_of(journey, (asks("what is ALPHA?", "what is BETA?"), DONE), first, (reports("BETA is nowhere"),))
    await journey.run(client=client)
    (result,) = journey.results
    assert "## 1. what is ALPHA?" in result and "ALPHA is 1 (a.py:1)" in result
    assert result.index("ALPHA is 1") < result.index("## 2. what is BETA?") < result.index("BETA is nowhere")
    began, ended = journey.of(SubagentStarted), journey.of(SubagentEnded)
    assert [one.end for one in ended] == [LaneEnd.DONE, LaneEnd.DONE]
    child = log_of(journey, began[0].child)
    assert isinstance(child[0], ev.TaskStarted) and child[0].subtask.parent == journey.task
    assert [type(event).__name__ for event in child][-1] == "TurnEnded"
    assert not (journey.state.lanes or [one for one in journey.logged if one.task != journey.task])
