"""A process died while a person was asked: whoever takes the task up is asked again, and the turn goes on.

The death is a copy of the home, made at that moment, which another process then finds.
"""

import asyncio
import shutil

import pytest
from tests.journeys.deaths import dead_after

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import NOT_RUN
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.attach.owner_socket import SOCKET
from halocline.runtime.controller import TaskOptions
from halocline.store.paths import Home

ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
AGAIN = TaskOptions(attended=True, asks_again=True)
TOUCH = Call("execute_command", {"command": "echo x >> made", "requires_approval": True}, id="c1")
LATER = Call("write_to_file", {"path": "later", "content": "x\n"}, id="c2")
QUESTION = Call("ask_followup_question", {"question": "Which?", "options": ["this", "that"]}, id="q1")
JOB = Call(
    "execute_command", {"command": "echo started; sleep 60", "requires_approval": False, "background": True}, id="j1"
)


@pytest.fixture
def dies(journey, tmp_path):
    """Ride turns up to the first event of a kind; the journey then stands where the process would have died."""

    async def dies(kind, *turns, call=""):
        def answer(event):
            if isinstance(event, kind) and call in ("", event.call) and not (tmp_path / "then").exists():
                shutil.copytree(
                    journey.home.root, tmp_path / "then", symlinks=True, ignore=shutil.ignore_patterns(SOCKET)
                )
                return cmd.Interrupt(task=event.task)
            return yes(event)

        await journey.run(*turns, options=ASK, answer=answer)
        journey.home = Home.of({"HALOCLINE_HOME": str(tmp_path / "then")})

    return dies


def yes(event):
    match event:
        case ev.ApprovalRequested():
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ONCE)
        case ev.QuestionAsked():
            return cmd.AnswerQuestion(task=event.task, request=event.request, answer="that")
    return None


async def goes_on(journey, *turns, answer=yes):
    client = journey.client(turns)
    try:
        await journey.open(client, AGAIN, journey.task)
        async with asyncio.timeout(20):
            journey.events = [event async for event in answered(client, journey, answer)]
        journey.state = client.state(journey.task)
    finally:
        await client.close()


async def answered(client, journey, answer):
    """All events up to the turn's end; what is asked after the task was taken up is answered."""
    taken_up = False
    async for event in client.events(journey.task):
        yield event
        taken_up = taken_up or isinstance(event, ev.TurnResumed)
        if taken_up and (command := answer(event)):
            client.send(command)
        if isinstance(event, ev.TurnEnded):
            return


async def test_an_approval_is_asked_again_and_the_turn_goes_on(journey, dies):
    turns = (Turn(text="now", calls=(TOUCH, LATER)), Turn(text="done", expect="Halocline stopped"))
    await dies(ev.ApprovalRequested, *turns)
    await goes_on(journey, *turns)
    assert journey.ends == [("c1", "completed"), ("c2", "completed")]
    assert (journey.workspace / "made").read_text() == "x\n"
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert [event.by for event in journey.of(ev.ApprovalResolved)] == ["user", "user"]
    assert len(journey.of(ev.TurnStarted)) == len(journey.of(ev.TurnResumed)) == 1


async def test_a_no_to_what_is_asked_again_counts(journey, dies):
    turns = (Turn(calls=(TOUCH,)), Turn(text="well", expect="declined"))
    await dies(ev.ApprovalRequested, *turns)

    def no(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.REJECT_ONCE)
        return None

    await goes_on(journey, *turns, answer=no)
    assert journey.ends == [("c1", "rejected")]
    assert not (journey.workspace / "made").exists()


async def test_a_question_is_asked_again_and_what_is_answered_reaches_the_model(journey, dies):
    turns = (Turn(calls=(QUESTION, LATER)), Turn(text="done", expect=("that", "Halocline stopped")))
    await dies(ev.QuestionAsked, *turns)
    await goes_on(journey, *turns)
    assert journey.ends == [("q1", "completed"), ("c2", "completed")]
    assert [event.by for event in journey.of(ev.QuestionAnswered)] == ["user"]


async def test_jobs_that_died_are_told_of_after_the_answer(journey, dies):
    turns = (Turn(calls=(JOB, TOUCH)), Turn(text="done", expect="job-1 (echo started; sleep 60) is gone"))
    await dies(ev.ApprovalRequested, *turns, call="c1")
    await goes_on(journey, *turns)
    assert [event.job for event in journey.of(ev.JobEnded)] == ["job-1"]
    assert journey.state.last_end.reason is StopReason.END_TURN


async def test_without_the_wish_to_be_asked_the_turn_ends_and_the_call_was_not_run(journey, dies):
    turns = (Turn(calls=(TOUCH,)), Turn(text="done", expect=NOT_RUN))
    await dies(ev.ApprovalRequested, *turns)
    await journey.run(*turns, resume=journey.task, prompt="Do something else.", options=TaskOptions())
    assert journey.ends == [("c1", "cancelled")]
    assert [event.reason for event in journey.of(ev.TurnEnded)] == [StopReason.CANCELLED, StopReason.END_TURN]


async def test_who_dies_again_at_once_is_asked_once_more(journey, dies, tmp_path):
    turns = (Turn(calls=(TOUCH,)), Turn(text="done"))
    await dies(ev.ApprovalRequested, *turns)
    client = journey.client(turns)
    await journey.open(client, AGAIN, journey.task)
    await client.close()
    dead_after(journey, ev.TurnResumed, tmp_path / "later")
    await goes_on(journey, *turns)
    assert [type(event) for event in journey.of(ev.TurnResumed)] == [ev.TurnResumed] * 2
    assert journey.ends == [("c1", "completed")]


async def test_what_a_lost_call_had_told_of_is_replayed(journey, tmp_path):
    todos = Call("update_todos", {"todos": [{"text": "go on"}]}, id="t1")
    turns = (Turn(calls=(todos,)), Turn(text="done"))
    await journey.run(*turns)
    dead_after(journey, ev.TodosChanged, tmp_path / "then")
    await journey.run(*turns, resume=journey.task)
    assert journey.ends == [("t1", "cancelled")]
    assert [todo.text for todo in journey.state.plan.todos] == ["go on"]


async def test_who_dies_twice_is_asked_a_third_time(journey, dies, tmp_path):
    turns = (Turn(calls=(TOUCH,)), Turn(text="done"))
    await dies(ev.ApprovalRequested, *turns)
    client = journey.client(turns)
    await journey.open(client, AGAIN, journey.task)
    asked = 0
    async with asyncio.timeout(20):
        async for event in client.events(journey.task):
            if (asked := asked + isinstance(event, ev.ApprovalRequested)) == 2:
                break
    shutil.copytree(journey.home.root, tmp_path / "later", symlinks=True, ignore=shutil.ignore_patterns(SOCKET))
    await client.close()
    journey.home = Home.of({"HALOCLINE_HOME": str(tmp_path / "later")})
    await goes_on(journey, *turns)
    assert len(journey.of(ev.ApprovalRequested)) == 3
    assert journey.ends == [("c1", "completed")]
