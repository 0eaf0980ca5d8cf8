"""A message that a person sends while something is asked is the answer to it: nothing that waited runs."""

import asyncio
from itertools import pairwise

import pytest
from tests.journeys.deaths import dead_after
from tests.journeys.test_asking_again import goes_on

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice
from halocline.protocol.messages import AssistantMessage, Image, StopReason, Text, ToolResult
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
TOUCH = Call("execute_command", {"command": "touch made", "requires_approval": True}, id="c1")
WRITE = Call("write_to_file", {"path": "a.txt", "content": "x\n"}, id="c2")
READ = Call("read_file", {"path": "b.txt"}, id="c3")
QUESTION = Call("ask_followup_question", {"question": "Which?", "options": ["this", "that"]}, id="q1")
WORDS = "rather use make"
HEARD = Turn(text="I use make.", expect=WORDS)
NOISE = ("CheckpointTaken", "UsageReported", "SandboxChecked")


def say(event, words=WORDS, *parts):
    return cmd.Steer(task=event.task, content=(Text(words), *parts))


def asked_then(command, kind=ev.ApprovalRequested):
    """Send this at the first request of a kind."""
    sent = []

    def answer(event):
        if not isinstance(event, kind) or sent:
            return None
        sent.append(event)
        return command(event)

    return answer


def essential(journey):
    return [kind for kind in journey.kinds if kind not in NOISE]


def require_results_first(messages):
    """Between a call and its result stands nothing."""
    for before, after in pairwise(messages):
        if isinstance(before, AssistantMessage) and before.tool_calls:
            assert isinstance(after, ToolResult)
        if isinstance(after, ToolResult):
            assert isinstance(before, AssistantMessage | ToolResult)


async def test_a_message_answers_an_approval_and_nothing_that_waited_runs(journey):
    journey.write("b.txt", "b\n")
    await journey.run(Turn(calls=(TOUCH, WRITE, READ)), HEARD, options=ASK, answer=asked_then(say))
    assert essential(journey) == [
        "TaskStarted",
        "TurnStarted",
        "StepStarted",
        "AssistantMessageCompleted",
        "ApprovalRequested",
        "MessageQueued",
        "SteeringReceived",
        "ApprovalResolved",
        "ToolCallEnded",
        "ToolCallEnded",
        "ToolCallEnded",
        "StepStarted",
        "AssistantMessageCompleted",
        "TurnEnded",
    ]
    (resolved,) = journey.of(ev.ApprovalResolved)
    assert (resolved.by, resolved.decision, resolved.client) == ("message", Choice.REJECT_ONCE, "test")
    assert journey.ends == [("c1", "rejected"), ("c2", "skipped"), ("c3", "skipped")]
    assert all("sent a new message" in result for result in journey.results)
    assert not (journey.workspace / "made").exists()
    assert not (journey.workspace / "a.txt").exists()
    require_results_first(journey.state.messages)


async def test_pictures_go_along_with_a_message_that_answers(journey):
    picture = Image("image/png", "b" * 64)
    await journey.run(Turn(calls=(TOUCH,)), HEARD, options=ASK, answer=asked_then(lambda e: say(e, WORDS, picture)))
    assert picture in [part for message in journey.state.messages for part in message.content]


async def test_a_message_answers_a_question_and_the_calls_after_it_do_not_run(journey):
    await journey.run(Turn(calls=(QUESTION, TOUCH)), HEARD, options=ASK, answer=asked_then(say, ev.QuestionAsked))
    assert essential(journey)[4:13] == [
        "ToolCallStarted",
        "QuestionAsked",
        "MessageQueued",
        "SteeringReceived",
        "QuestionAnswered",
        "ToolCallEnded",
        "ToolCallEnded",
        "StepStarted",
        "AssistantMessageCompleted",
    ]
    (answered,) = journey.of(ev.QuestionAnswered)
    assert (answered.by, answered.answer) == ("message", "")
    assert journey.ends == [("q1", "rejected"), ("c1", "skipped")]
    assert not (journey.workspace / "made").exists()
    require_results_first(journey.state.messages)


async def test_a_message_at_a_limit_is_guidance_and_the_turn_goes_on(journey):
    turns = (Turn(calls=(Call("list_files", {"path": "."}, id="c1"),)), HEARD)
    await journey.run(*turns, answer=asked_then(say, ev.QuestionAsked), max_steps=1)
    assert "LimitExtended" in journey.kinds
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert journey.state.last_message.text == "I use make."


async def test_a_prompt_that_is_queued_cancels_nothing_and_has_its_turn_later(journey):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            client.send(cmd.SubmitPrompt(task=event.task, content=(Text("and then this"),)))
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ONCE)
        return None

    client = journey.client((Turn(calls=(TOUCH,)), Turn(text="made"), Turn(text="then", expect="and then this")))
    try:
        await journey.open(client, ASK)
        await journey.prompt(client, answer=answer, after=0)
        async with asyncio.timeout(20):
            async for event in client.events(journey.task, journey.state.seq):
                if isinstance(event, ev.TurnEnded):
                    break
    finally:
        await client.close()
    assert (journey.workspace / "made").exists()
    assert journey.ends == [("c1", "completed")]
    assert [event.by for event in journey.of(ev.ApprovalResolved)] == ["user"]
    assert "SteeringReceived" not in journey.kinds


async def test_a_slash_command_answers_once_it_was_read_and_an_unknown_one_leaves_the_request_open(journey):
    journey.write(".halocline/commands/ship.md", "Ship $ARGUMENTS.\n")
    typed = [lambda e: say(e, "/mcp:none:such"), None, lambda e: say(e, "/ship one")]

    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            return typed[0](event)
        return typed[2](asked()) if isinstance(event, ev.Noticed) and "was not sent" in event.text else None

    def asked():
        return journey.of(ev.ApprovalRequested)[0]

    await journey.run(Turn(calls=(TOUCH,)), Turn(text="ok", expect="Ship one."), options=ASK, answer=answer)
    assert [event.by for event in journey.of(ev.ApprovalResolved)] == ["message"]
    assert journey.ends == [("c1", "rejected")]


async def test_a_decision_that_comes_after_the_message_is_too_late(journey):
    late = []

    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            late.append(event)
            return say(event)
        if isinstance(event, ev.SteeringReceived):
            return cmd.ResolveApproval(task=event.task, request=late[0].request, decision=Choice.ALLOW_ONCE)
        return None

    await journey.run(Turn(calls=(TOUCH,)), HEARD, options=ASK, answer=answer)
    assert [event.by for event in journey.of(ev.ApprovalResolved)] == ["message"]
    assert not (journey.workspace / "made").exists()


async def test_a_message_after_a_decision_is_read_before_the_next_request_as_ever(journey):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            client.send(cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ONCE))
            return say(event)
        return None

    client = journey.client((Turn(calls=(TOUCH,)), HEARD))
    await journey.run(client=client, options=ASK, answer=answer)
    assert (journey.workspace / "made").exists()
    assert journey.ends == [("c1", "completed")]
    assert "SteeringReceived" in journey.kinds


@pytest.mark.parametrize("kind", [ev.SteeringReceived, ev.ApprovalResolved, ev.ToolCallEnded])
async def test_a_crash_between_the_pieces_loses_no_words_and_runs_nothing(journey, tmp_path, kind):
    await journey.run(Turn(calls=(TOUCH, WRITE)), HEARD, options=ASK, answer=asked_then(say))
    dead_after(journey, kind, tmp_path / "then")
    await goes_on(journey, Turn(calls=(TOUCH, WRITE)), HEARD, answer=lambda event: None)
    assert [*{event.call: event.status.value for event in journey.of(ev.ToolCallEnded)}] == ["c1", "c2"]
    assert len(journey.of(ev.ApprovalRequested)) == 1
    assert not (journey.workspace / "made").exists()
    assert not (journey.workspace / "a.txt").exists()
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert journey.state.last_message.text == "I use make."
    require_results_first(journey.state.messages)


@pytest.mark.parametrize("kind", [ev.SteeringReceived, ev.QuestionAnswered])
async def test_a_crash_after_a_message_at_a_question_loses_no_words(journey, tmp_path, kind):
    await journey.run(Turn(calls=(QUESTION, TOUCH)), HEARD, options=ASK, answer=asked_then(say, ev.QuestionAsked))
    dead_after(journey, kind, tmp_path / "then")
    client = journey.client(())
    try:
        await journey.open(client, TaskOptions(attended=True), journey.task)
        journey.state = client.state(journey.task)
    finally:
        await client.close()
    assert WORDS in str(journey.state.messages[-1].content)
    assert not (journey.workspace / "made").exists()
    require_results_first(journey.state.messages)
