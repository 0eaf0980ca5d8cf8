"""Checks on what a task did, for the tests of programs that use Halocline."""

from collections.abc import Iterable, Sequence
from typing import Any

from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.protocol.values import JsonObject, Value
from halocline.sdk.result import Result


class PlayedCall(Value, frozen=True):
    """A call of a tool as it ended. `text` is what the model read of it."""

    tool: str
    arguments: JsonObject
    status: CallStatus
    text: str


def calls_of(source: "Result[Any] | Iterable[ev.Event]", tool: str = "") -> list[PlayedCall]:
    """Return the calls of a result, or of events, in the order in which the model made them; of `tool`, if named."""
    events: Sequence[ev.Event] = source.events if isinstance(source, Result) else tuple(source)
    replies = (event.message for event in events if isinstance(event, ev.AssistantMessageCompleted))
    ends: dict[str, list[ev.ToolCallEnded]] = {}
    for event in events:
        if isinstance(event, ev.ToolCallEnded) and tool in ("", event.name):
            ends.setdefault(event.call, []).append(event)
    made = [(ends[call.id].pop(0), call) for reply in replies for call in reply.tool_calls if ends.get(call.id)]
    return [PlayedCall(end.name, call.arguments, end.status, end.result.text) for end, call in made]


def assert_called(source: "Result[Any] | Iterable[ev.Event]", tool: str, **arguments: Any) -> PlayedCall:
    """Return the first call of the tool with at least these arguments.

    Raises AssertionError, with the calls that there were.
    """
    calls = calls_of(source)
    for call in calls:
        if call.tool == tool and arguments.items() <= call.arguments.items():
            return call
    made = "".join(f"\n  {call.tool} {call.arguments} ({call.status})" for call in calls) or " none"
    raise AssertionError(f"No call of {tool} with {arguments}; the calls were:{made}")


async def replay(task: str) -> tuple[str, ...]:
    """Replay a task from its log with the loop as it is now; its model and its tools answer as they did.

    Return the differences, each in words; none if the task replays identically to the end of its last turn.
    Raises TaskNotFound.
    """
    client = open_client(Choices(unattended=True), "replay")
    try:
        done = await client.replay(task)
    finally:
        await client.close()
    found = tuple(f"{one.place} {one.path}: {one.recorded} was recorded, now {one.now}" for one in done.differences)
    if done.same:
        return ("Its log ends in the middle of a turn.",) if done.unfinished else ()
    return found or (f"It ended after {done.events} of {done.recorded_events} events.",)
