import asyncio
import random
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.journeys.soundness import assert_sound
from tests.samples import choose
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice
from halocline.protocol.messages import StopReason, Text
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import NOT_RUN, UNKNOWN_OUTCOME
from halocline.providers.scripted.model import Call, Fault, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

DONE = Turn(text="done")
ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO, attended=True)
LONG = Turn(text="word " * 400, pace=0.01)


def shell(command, id="c1"):
    return Call("execute_command", {"command": command, "requires_approval": False}, id=id)


async def cut_short(journey, client, when, options=YOLO):
    """Interrupt a turn at the first event that `when` names, then have another turn. Gives the first one's events."""
    seen = []

    def answer(event):
        if seen or not when(event):
            return None
        seen.append(event)
        return cmd.Interrupt(task=journey.task)

    try:
        await journey.open(client, options)
        await journey.prompt(client, answer=answer)
        first = journey.events
        await journey.prompt(client, "and now?")
    finally:
        await client.close()
    assert first[-1].reason is StopReason.CANCELLED
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert_sound(journey.logged)
    return first


def first(kind):
    return lambda event: isinstance(event, kind)


def ended(events):
    return [
        (event.call, event.status.value, event.result.text) for event in events if isinstance(event, ev.ToolCallEnded)
    ]


async def test_what_was_said_before_an_interrupt_is_kept(journey):
    events = await cut_short(journey, journey.client([LONG, DONE]), first(ev.TextDelta))
    (message,) = [event.message for event in events if isinstance(event, ev.AssistantMessageCompleted)]
    assert message.interrupted
    assert LONG.text.startswith(message.text)
    assert 0 < len(message.text) < len(LONG.text)


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-5-5", "openai/gpt-5.6", "openai-responses/gpt-5.6"])
async def test_an_interrupt_while_the_model_speaks_closes_the_connection(journey, model):
    async with ModelServer([Turn(text="one two three", fault=Fault.STALL), DONE]) as server:
        settings = Settings(base_url=server.url(model.partition("/")[0]))
        client = Client(Controller(Assembly(journey.home, settings, {})), "test")
        await cut_short(journey, client, first(ev.TextDelta), TaskOptions(model=model, attended=True))
        await server.disconnected()
        assert len(server.requests) == 2


async def test_an_interrupt_before_the_answer_begins_leaves_no_message(journey):
    async with ModelServer([Turn(text="late", delay=60), DONE]) as server:
        client = Client(Controller(Assembly(journey.home, Settings(base_url=server.url("openai")), {})), "test")
        await journey.open(client, TaskOptions(model="openai/gpt-5.6"))
        asking = asyncio.create_task(journey.prompt(client))
        await server.received()
        client.send(cmd.Interrupt(task=journey.task))
        await asking
        await server.disconnected()
        await client.close()
    assert journey.kinds == ["TurnStarted", "StepStarted", "TurnEnded"]


async def test_an_interrupt_stops_a_command_and_all_that_it_started(journey):
    command = "sleep 61 & echo $! > background; echo $$ > shell; echo ready; sleep 62"
    client = journey.client([Turn(calls=(shell(command), shell("ls", id="c2"))), DONE])
    events = await cut_short(journey, client, first(ev.ToolCallProgressed))
    assert ended(events) == [("c1", "cancelled", UNKNOWN_OUTCOME), ("c2", "cancelled", NOT_RUN)]
    pids = [(journey.workspace / name).read_text().strip() for name in ("background", "shell")]
    assert [pid for pid in pids if is_running(pid)] == []


def is_running(pid):
    """Whether the process runs; one that ended and was not collected yet does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def test_what_an_interrupted_command_changed_is_in_the_next_checkpoint(journey):
    write = Call("write_to_file", {"path": "later", "content": "x\n"})
    turns = [Turn(calls=(shell("touch made; echo ready; sleep 60"),)), Turn(calls=(write,)), DONE]
    client = journey.client(turns)
    await cut_short(journey, client, first(ev.ToolCallProgressed))
    saved = await client.checkpoints(journey.workspace).list(journey.task)
    assert "made" in await client.checkpoints(journey.workspace).diff(saved[0].sha, saved[-1].sha)


async def test_an_interrupt_while_a_person_decides_leaves_the_call_unrun(journey):
    client = journey.client([Turn(calls=(shell("touch made"),)), DONE])
    events = await cut_short(journey, client, first(ev.ApprovalRequested), ASK)
    assert [event.by for event in events if isinstance(event, ev.ApprovalResolved)] == ["interrupt"]
    assert ended(events) == [("c1", "cancelled", NOT_RUN)]
    assert not (journey.workspace / "made").exists()


async def test_an_interrupt_while_a_question_waits_ends_it(journey):
    question = Call("ask_followup_question", {"question": "Which colour?"}, id="c1")
    events = await cut_short(journey, journey.client([Turn(calls=(question,)), DONE]), first(ev.QuestionAsked))
    assert [event.by for event in events if isinstance(event, ev.QuestionAnswered)] == ["interrupt"]


async def test_an_interrupt_while_the_pause_at_a_limit_waits_ends_the_turn(journey):
    client = journey.client([Turn(calls=(shell("true"),)), DONE], max_steps=1)
    await cut_short(journey, client, first(ev.QuestionAsked))


async def test_an_interrupt_during_the_wait_before_a_retry_asks_no_more(journey):
    async with ModelServer([Turn(fault=Fault.OVERLOADED), DONE]) as server:
        client = Client(Controller(Assembly(journey.home, Settings(base_url=server.url("openai")), {})), "test")
        events = await cut_short(journey, client, first(ev.StepRetried), TaskOptions(model="openai/gpt-5.6"))
    assert [event for event in events if isinstance(event, ev.AssistantMessageCompleted)] == []


async def test_an_interrupt_between_two_calls_leaves_the_second_unrun(journey):
    client = journey.client([Turn(calls=(shell("true"), shell("sleep 60; touch made", id="c2"))), DONE])
    events = await cut_short(journey, client, first(ev.ToolCallEnded))
    assert [(call, status) for call, status, _ in ended(events)] == [("c1", "completed"), ("c2", "cancelled")]
    assert not (journey.workspace / "made").exists()


async def test_a_second_interrupt_changes_nothing(journey):
    client = journey.client([Turn(calls=(shell("echo ready; sleep 60"),)), DONE])

    def twice(event):
        if isinstance(event, ev.ToolCallProgressed):
            client.send(cmd.Interrupt(task=journey.task))
            return True
        return False

    await cut_short(journey, client, twice)


async def test_an_interrupt_right_after_the_prompt_ends_the_turn_before_the_model_is_asked(journey):
    client = journey.client([DONE])
    await journey.open(client)
    client.send(cmd.SubmitPrompt(task=journey.task, content=(Text("never mind"),)))
    client.send(cmd.Interrupt(task=journey.task))
    async with asyncio.timeout(5):
        ends = (event async for event in client.events(journey.task) if isinstance(event, ev.TurnEnded))
        assert (await anext(ends)).reason is StopReason.CANCELLED
    await journey.prompt(client)
    await client.close()
    assert [event.model for event in journey.logged if isinstance(event, ev.StepStarted)] == ["scripted/script"]
    assert_sound(journey.logged)


async def test_an_interrupt_at_the_very_end_of_a_turn_gives_it_no_second_end(journey):
    client = journey.client([DONE, DONE])

    def answer(event):
        return (
            cmd.Interrupt(task=event.task) if isinstance(event, ev.AssistantMessageCompleted | ev.TurnEnded) else None
        )

    await journey.open(client)
    await journey.prompt(client, answer=answer)
    await journey.prompt(client)
    await client.close()
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert_sound(journey.logged)


async def test_the_model_is_told_that_its_turn_was_interrupted(journey):
    told = Turn(text="I see", expect=("previous turn was interrupted", UNKNOWN_OUTCOME))
    client = journey.client([Turn(calls=(shell("echo ready; sleep 60"),)), told])
    await cut_short(journey, client, first(ev.ToolCallProgressed))


def chaotic_call(rng, number):
    name, arguments = rng.choice(
        [
            ("read_file", {"path": "a.txt"}),
            ("read_file", {"path": f"missing {number}"}),
            ("execute_command", {"command": f"echo {number}; echo {number} >> b.txt", "requires_approval": False}),
            ("write_to_file", {"path": "a.txt", "content": f"{number}\n"}),
            ("ask_followup_question", {"question": f"Is it {number}?"}),
            ("update_todos", {"todos": [{"text": str(number)}]}),
            ("fly", {}),
        ]
    )
    return Call(name, arguments, id=f"c{number}")


def chaotic_script(rng):
    numbers = iter(range(100))
    turns = [
        Turn(
            text="word " * rng.randrange(8),
            calls=tuple(chaotic_call(rng, next(numbers)) for _ in range(rng.randrange(1, 4))),
            chunk=5,
            pace=rng.choice([0.0, 0.0, 0.001]),
        )
        for _ in range(4)
    ]
    return [*turns, *[DONE] * 6]


class Person:
    """Answers most of what is asked, and interrupts at some point."""

    def __init__(self, rng, client):
        self._rng = rng
        self._client = client
        self._patience = rng.randrange(25)
        self.impatience = None

    def answer(self, event):
        self._patience -= 1
        if self._patience <= 0:
            self._lose_patience(event)
        decision = self._rng.choice([Choice.ALLOW_ONCE, Choice.ALLOW_ALWAYS, Choice.REJECT_ONCE])
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=decision)
        if isinstance(event, ev.QuestionAsked):
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer="yes")
        if isinstance(event, ev.TurnEnded) and self.impatience is not None:
            self.impatience.cancel()
        return None

    def _lose_patience(self, event):
        if self.impatience is None and isinstance(event, ev.Durable):
            interrupt = cmd.Interrupt(task=event.task)
            delay = self._rng.choice([0.0, self._rng.random() * 0.01])
            self.impatience = asyncio.get_running_loop().call_later(delay, self._client.send, interrupt)


@pytest.mark.parametrize("seed", range(choose(40, 16)))
async def test_wherever_an_interrupt_falls_the_log_is_sound_and_the_task_goes_on(journey, seed):
    rng = random.Random(seed)
    journey.write("a.txt", "one\n")
    client = journey.client(chaotic_script(rng), checkpoints=seed % 8 == 0, max_failures=100)
    await journey.open(client, rng.choice([ASK, YOLO]))
    await journey.prompt(client, answer=Person(rng, client).answer)
    calm = Person(rng, client)
    calm._patience = 1000
    await journey.prompt(client, "and now?", answer=calm.answer)
    live, logged = client.state(journey.task), journey.logged
    await client.close()
    assert live.last_end.reason is StopReason.END_TURN
    assert replace(live, draft=None) == fold_events(logged)
    assert_sound(logged)
