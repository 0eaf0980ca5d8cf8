"""What must hold of every log, whatever happened to its task."""

from collections.abc import Sequence

from halocline.protocol import events as ev
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import loose_ends


def assert_sound(events: Sequence[ev.DurableEvent]) -> None:
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert loose_ends(fold_events(events)) == ()
    assert_turns_end_once(events)
    assert_calls_end_once(events)
    assert_requests_end_once(events)


def assert_turns_end_once(events: Sequence[ev.DurableEvent]) -> None:
    marks = [type(event) for event in events if isinstance(event, ev.TurnStarted | ev.TurnEnded)]
    assert marks == [ev.TurnStarted, ev.TurnEnded] * (len(marks) // 2)


def assert_calls_end_once(events: Sequence[ev.DurableEvent]) -> None:
    """Calls of one message end before the next message, each once, and none starts twice or after its end."""
    waiting: dict[str, bool] = {}
    asking: set[str] = set()
    for event in events:
        match event:
            case ev.QuestionAsked(call=call):
                asking.add(call)
            case ev.QuestionAnswered():
                asking.clear()
            case ev.TurnResumed():  # calls that only asked begin again
                waiting.update(dict.fromkeys(asking & waiting.keys(), False))
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
    """Each once, unless the process died meanwhile and another one asked anew."""
    waiting: set[str] = set()
    for event in events:
        match event:
            case ev.ApprovalRequested(request=request) | ev.QuestionAsked(request=request):
                assert request not in waiting
                waiting.add(request)
            case ev.ApprovalResolved(request=request) | ev.QuestionAnswered(request=request):
                waiting.remove(request)
            case ev.TurnResumed():
                waiting.clear()
    assert waiting == set()
