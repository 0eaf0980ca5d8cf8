"""What was said elsewhere as events of ours: every call has one end, every turn has one end, time never runs back."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall, ToolResult, Usage
from halocline.protocol.state import UNKNOWN_OUTCOME
from halocline.store.importing.said import Beat, Heard, Prompted, Spoke, Unread
from halocline.store.importing.tools import ENDING, ours, title

ENDS_HERE = "The imported conversation ends here."
E = TypeVar("E", bound=ev.DurableEvent)


def events(beats: Iterable[Beat]) -> Iterator[ev.DurableEvent]:
    """The events after a task's beginning, dated, not yet numbered."""
    making = _Making()
    for beat in beats:
        yield from making.take(beat)
    yield from making.end()


class _Making:
    """Holds one reply back, as its parts may come in several pieces with results between them."""

    def __init__(self) -> None:
        self._at = 0.0
        self._in_turn = False
        self._reply: Spoke | None = None
        self._results: list[Heard] = []
        self._open: dict[str, ToolCall] = {}
        self._answered = False

    def take(self, beat: Beat) -> Iterator[ev.DurableEvent]:
        match beat:
            case Unread():
                return
            case Spoke():
                yield from self._spoke(beat)
            case Heard():
                self._results.append(beat)
            case Prompted():
                yield from self._said()
                yield from self._prompted(beat)

    def end(self) -> Iterator[ev.DurableEvent]:
        yield from self._said()
        yield from self._end_turn()

    def _spoke(self, beat: Spoke) -> Iterator[ev.DurableEvent]:
        last = self._reply
        if last is None or last.reply != beat.reply:
            yield from self._said()
            self._reply = beat
            return
        usage = last.usage if beat.usage is None else beat.usage
        cost = last.cost if beat.cost is None else beat.cost
        self._reply = replace(last, parts=(*last.parts, *beat.parts), usage=usage, cost=cost)

    def _prompted(self, beat: Prompted) -> Iterator[ev.DurableEvent]:
        content = (Text(beat.text),)
        if self._in_turn and not self._open and not self._answered:
            yield self._dated(ev.SteeringReceived(content=content), beat.at)
            return
        yield from self._end_turn()
        self._in_turn, self._answered = True, False
        yield self._dated(ev.TurnStarted(content=content), beat.at)

    def _said(self) -> Iterator[ev.DurableEvent]:
        """The reply that was held back, and what its calls gave."""
        reply, self._reply = self._reply, None
        if reply and (reply.parts or reply.usage):
            yield from self._step(reply)
        results, self._results = self._results, []
        for result in results:
            if call := self._open.pop(result.call, None):
                yield from self._ended(call, result)

    def _step(self, reply: Spoke) -> Iterator[ev.DurableEvent]:
        if not self._in_turn:
            self._in_turn = True
            yield self._dated(ev.TurnStarted(content=(Text("(The beginning was not found.)"),)), reply.at)
        yield self._dated(ev.StepStarted(model=reply.model), reply.at)
        yield self._dated(ev.UsageReported(usage=reply.usage or Usage(), cost=reply.cost), reply.at)
        if not reply.parts:
            return
        parts = tuple(ours(part) if isinstance(part, ToolCall) else part for part in reply.parts)
        message = AssistantMessage(content=parts, model=reply.model)
        self._open |= {call.id: call for call in message.tool_calls}
        self._answered = not message.tool_calls
        yield self._dated(ev.AssistantMessageCompleted(message=message), reply.at)

    def _ended(self, call: ToolCall, heard: Heard) -> Iterator[ev.DurableEvent]:
        words, kind = title(call)
        yield self._dated(ev.ToolCallStarted(call=call.id, name=call.name, title=words, kind=kind), heard.at)
        status = ev.CallStatus.FAILED if heard.is_error else ev.CallStatus.COMPLETED
        result = ToolResult(call=call.id, content=(Text(heard.text),), is_error=heard.is_error)
        ends = call.name in ENDING and not heard.is_error
        self._answered = self._answered or ends
        end = ev.ToolCallEnded(call=call.id, name=call.name, status=status, result=result, ends_turn=ends)
        yield self._dated(end, heard.at)

    def _end_turn(self) -> Iterator[ev.DurableEvent]:
        if not self._in_turn:
            return
        done = self._answered or any(call.name in ENDING for call in self._open.values())
        for call in self._open.values():
            result = ToolResult(call=call.id, content=(Text(UNKNOWN_OUTCOME),), is_error=True)
            cut = ev.ToolCallEnded(call=call.id, name=call.name, status=ev.CallStatus.CANCELLED, result=result)
            yield self._dated(cut)
        self._open, self._in_turn = {}, False
        reason = StopReason.END_TURN if done else StopReason.CANCELLED
        yield self._dated(ev.TurnEnded(reason=reason, text="" if done else ENDS_HERE))

    def _dated(self, event: E, at: float = 0.0) -> E:
        self._at = max(self._at, at)
        return replace(event, at=self._at)
