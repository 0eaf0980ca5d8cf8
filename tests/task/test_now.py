"""Who begins to listen in the middle is told what goes on."""

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import LaneEnd, SubagentEnded, SubagentProgressed
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolResult
from halocline.task.live_snapshot import LONGEST, Now


def now(*events: ev.Event) -> list[ev.Event]:
    so_far = Now()
    for event in events:
        so_far.learn(event)
    return list(so_far.events())


def test_what_is_being_written_is_said_joined():
    said = now(ev.ThinkingDelta("Let "), ev.ThinkingDelta("me."), ev.TextDelta("On"), ev.TextDelta("e"))
    assert said == [ev.ThinkingDelta("Let me."), ev.TextDelta("One")]


def test_a_message_of_its_own_stays_apart():
    assert now(ev.TextDelta("One"), ev.TextDelta("Two", apart=True)) == [
        ev.TextDelta("One"),
        ev.TextDelta("Two", apart=True),
    ]


def test_a_call_that_is_being_written_is_said_whole():
    pieces = [ev.ToolCallDelta("c", "write_to_file", part) for part in ('{"path', '":"a"}')]
    assert now(*pieces) == [ev.ToolCallDelta("c", "write_to_file", '{"path":"a"}')]


def test_a_reply_that_is_complete_is_in_the_log_and_not_said():
    message = ev.AssistantMessageCompleted(AssistantMessage((Text("One"),)))
    assert now(ev.TextDelta("One"), ev.ToolCallDelta("c", "x", "{"), message) == []


def test_the_end_of_an_output_is_said_until_its_call_ends():
    running = [ev.ToolCallProgressed("a", "x" * LONGEST), *(ev.ToolCallProgressed("a", "y") for _ in range(600))]
    [said] = now(*running, ev.ToolCallProgressed("b", "other"), ended("b"))
    assert said == ev.ToolCallProgressed("a", "x" * (LONGEST - 600) + "y" * 600)


def test_a_request_that_failed_takes_its_words_with_it():
    retried = ev.StepRetried(1, 2.0, "Overloaded.")
    assert now(ev.TextDelta("On"), retried) == [retried]
    assert now(retried, ev.TextDelta("One")) == [ev.TextDelta("One")]


def test_nothing_goes_on_after_a_turn():
    assert now(ev.TextDelta("On"), ev.ToolCallProgressed("a", "x"), ev.TurnEnded(StopReason.CANCELLED)) == []


def ended(call: str) -> ev.ToolCallEnded:
    return ev.ToolCallEnded(call, "x", CallStatus.COMPLETED, ToolResult(call, (Text("done"),)))


def test_what_each_sub_agent_does_now_is_said_until_it_ends():
    one, two = (SubagentProgressed("c", child, "thinks", 1) for child in ("t1", "t2"))
    later = SubagentProgressed("c", "t1", "Read a.py", 2)
    assert now(one, two, later) == [later, two]
    assert now(one, two, SubagentEnded("c", "t1", "one", LaneEnd.DONE)) == [two]
    assert now(one, two, ev.TurnEnded(StopReason.CANCELLED)) == []
