from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus, ToolKind
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall, ToolResult
from halocline.protocol.state.state import PROCESS_ENDED
from halocline.services.replay.cuts import Cut, find_cuts


def ended(call: str, status: CallStatus) -> ev.ToolCallEnded:
    return ev.ToolCallEnded(call, "read_file", status, ToolResult(call, (Text("It ended."),)))


SAID = ev.AssistantMessageCompleted(AssistantMessage((ToolCall("a", "read_file"), ToolCall("b", "read_file"))))
BEGUN = (ev.TurnStarted((Text("Go."),)), SAID, ev.ToolCallStarted("a", "read_file", "Read", ToolKind.READ))
END = ev.TurnEnded(StopReason.CANCELLED, text=PROCESS_ENDED)


def test_a_process_that_died_cuts_the_loop_where_its_loose_ends_are_closed():
    closed = (ended("a", CallStatus.CANCELLED), ended("b", CallStatus.CANCELLED))
    assert find_cuts((*BEGUN, *closed, END)) == [Cut(3, 6, died=True)]


def test_whoever_died_over_closing_the_ends_of_another_belongs_to_the_same_cut():
    repaired = ev.LogRepaired(bytes_cut=7)
    first, second = ended("a", CallStatus.CANCELLED), ended("b", CallStatus.CANCELLED)
    assert find_cuts((*BEGUN, repaired, first, repaired, second, END)) == [Cut(3, 8, died=True)]


def test_a_call_that_had_its_end_before_is_not_part_of_the_cut():
    closed = (ended("a", CallStatus.COMPLETED), ended("b", CallStatus.CANCELLED))
    assert find_cuts((*BEGUN, *closed, END)) == [Cut(4, 6, died=True)]
