"""What must hold of every log, whatever happened to its task."""

from collections.abc import Sequence

from halocline.protocol import events as ev
from halocline.protocol.fold import fold
from halocline.protocol.state import loose_ends


def assert_sound(events: Sequence[ev.DurableEvent]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert loose_ends(fold(events)) == ()
    assert_turns_end_once(events)
    assert_calls_end_once(events)
    assert_requests_end_once(events)


def assert_turns_end_once(events: Sequence[ev.DurableEvent]) -> None:
    marks = [type(event) for event in events if isinstance(event, ev.TurnStarted | ev.TurnEnded)]
    assert marks == [ev.TurnStarted, ev.TurnEnded] * (len(marks) // 2)


def assert_calls_end_once(events: Sequence[ev.DurableEvent]) -> None:
    """Calls of one message end before the next message, each once, and none starts twice or after its end."""
    waiting: dict[str, bool] = {}
    for event in events:
        match event:
            case ev.AssistantMessageCompleted(message=message):
                assert waiting == {}
                waiting = {call.id: False for call in message.tool_calls}
                assert len(waiting) == len(message.tool_calls)
            case ev.ToolCallStarted(call=call):
                assert waiting[call] is False
                waiting[call] = True
            case ev.ToolCallEnded(call=call):
                waiting.pop(call)
            case ev.TurnEnded():
                assert waiting == {}


def assert_requests_end_once(events: Sequence[ev.DurableEvent]) -> None:
    asked = [event.request for event in events if isinstance(event, ev.ApprovalRequested | ev.QuestionAsked)]
    told = [event.request for event in events if isinstance(event, ev.ApprovalResolved | ev.QuestionAnswered)]
    assert sorted(asked) == sorted(told) == sorted(set(asked))
