"""The prompt of an editor, tied to the turn that it starts or answers: other clients of a task start turns, too."""

import asyncio
import uuid

from acp import RequestError, schema

from halocline.protocol import events as ev
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import PROCESS_ENDED
from halocline.surfaces.acp.failures import make_error

_STOPS: dict[StopReason, schema.StopReason] = {
    StopReason.END_TURN: "end_turn",
    StopReason.MAX_TOKENS: "max_tokens",
    StopReason.MAX_TURN_REQUESTS: "max_turn_requests",
    StopReason.REFUSAL: "refusal",
    StopReason.CANCELLED: "cancelled",
}
End = schema.PromptResponse | RequestError


class PromptTurns:
    """Follows the turns of one session, and ends its prompt with the right one."""

    def __init__(self) -> None:
        self.name = ""
        """Name of the turn that the prompt belongs to. Turns of other clients have other names, or none."""
        self._end: asyncio.Future[End] | None = None
        self._current = ""
        self._failure = ""
        self._dropped: set[str] = set()
        self._goes_on = False

    @staticmethod
    def make_name() -> str:
        """Return a name for a new turn."""
        return uuid.uuid4().hex

    def expect(self, name: str = "") -> "asyncio.Future[End]":
        """Return the end of the prompt of this turn; without a name, of the one that runs and waits for an answer."""
        self.name = name or self._current
        self._end = asyncio.get_running_loop().create_future()
        return self._end

    def follow(self, event: ev.Event) -> bool:
        """Follow an event. Return True if the turn that begins with it was cancelled before."""
        match event:
            case ev.TurnStarted(name=name):
                if self._goes_on:
                    self._goes_on, name = False, self.name
                self._current, self._failure = name, ""
                return name in self._dropped
            case ev.ErrorRaised():
                self._failure = f"{event.text} {event.hint}".rstrip()
            case ev.TurnEnded():
                self._settle(self._describe_end(event))
        return False

    def go_on_in_next(self) -> None:
        """Take the next turn for the prompt's, if the prompt waits: another process continues its work there."""
        self._goes_on = self._current == self.name and self._end is not None and not self._end.done()

    def pause(self) -> None:
        """End the prompt of the turn that runs, which waits for the next prompt."""
        self._settle(schema.PromptResponse(stop_reason="end_turn"))

    def cancel(self) -> bool:
        """End a prompt whose turn has not begun. Return False if there is none: the turn that runs is cancelled."""
        if self._end is None or self._end.done() or self._current == self.name:
            return False
        self.drop(schema.PromptResponse(stop_reason="cancelled"))
        return True

    def drop(self, end: End) -> None:
        """End the prompt now. If its turn has not begun, it is cancelled when it does."""
        if self._end and not self._end.done():
            self._end.set_result(end)
        if self._current != self.name:
            self._dropped.add(self.name)

    def _settle(self, end: End) -> None:
        if self._end and not self._end.done() and self._current == self.name:
            self._end.set_result(end)

    def _describe_end(self, event: ev.TurnEnded) -> End:
        if event.text == PROCESS_ENDED:
            return make_error("The process that ran this turn has ended. Send a prompt to continue.")
        if event.reason is not StopReason.ERROR:
            return schema.PromptResponse(stop_reason=_STOPS[event.reason])
        return make_error(self._failure or event.text or "The turn failed.")
