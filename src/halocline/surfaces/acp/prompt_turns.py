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
    """Follows the turns of one session, and ends its prompt with the right one.

    What must stay true: only the end of its own turn ends a prompt, and a cancel reaches only the turn it was meant
    for. `running` is the number of the turn that ran when the session began; 0 if none did.
    """

    def __init__(self, running: int = 0) -> None:
        self.running = running
        """Number of the first event of the turn that runs; 0 between turns."""
        self._current = _name_turn("", running)
        self._name = ""
        """Name of the turn that the prompt belongs to. Turns of other clients have other names."""
        self._end: asyncio.Future[End] | None = None
        self._failure = ""
        self._dropped: set[str] = set()
        self._queued: dict[int, str] = {}
        """Names of turns by the number of the waiting message that they will begin with."""
        self._continued = ""

    @staticmethod
    def make_name() -> str:
        """Return a name for a new turn."""
        return uuid.uuid4().hex

    def expect(self, name: str = "") -> "asyncio.Future[End]":
        """Return the end of the prompt of this turn; without a name, of the one that runs and waits for an answer."""
        self._name = name or self._current
        self._end = asyncio.get_running_loop().create_future()
        return self._end

    def follow(self, event: ev.Event) -> int:
        """Follow an event. Return the number of the turn that begins with it if that was cancelled before, else 0."""
        match event:
            case ev.TurnStarted(name=name, seq=seq):
                self.running, self._failure = seq, ""
                self._current, self._continued = self._continued or _name_turn(name, seq), ""
                return seq if self._current in self._dropped else 0
            case ev.ErrorRaised():
                self._failure = f"{event.text} {event.hint}".rstrip()
            case ev.MessageQueued(turn=turn, seq=seq):
                self._queued[seq] = turn
            case ev.MessageWithdrawn(message=message):
                self._dropped.discard(self._queued.pop(message, ""))
            case ev.TurnEnded():
                self._settle(self._describe_end(event))
                self._dropped.discard(self._current)
                self.running, self._current = 0, ""
        return 0

    def hand_over(self) -> str:
        """Note that the turn has ended and its work continues in the next one, in another task.

        Return the name that the next turn has here, if a prompt waits for its end; empty if none does.
        """
        self._continued = self._name if self.is_prompted else ""
        self.running, self._current = 0, ""
        return self._continued

    def pause(self) -> None:
        """End the prompt of the turn that runs, which waits for the next prompt."""
        self._settle(schema.PromptResponse(stop_reason="end_turn"))

    def cancel(self) -> bool:
        """End a prompt whose turn has not begun. Return False if there is none: the turn that runs is cancelled."""
        if self._is_mine or not self._is_waiting:
            return False
        self.drop(schema.PromptResponse(stop_reason="cancelled"))
        return True

    def drop(self, end: End, turn: int = 0) -> None:
        """End the prompt now; with a `turn`, only that one's. A turn that has not begun is cancelled when it does."""
        if turn and (turn != self.running or not self._is_mine):
            return
        if self._end and not self._end.done():
            self._end.set_result(end)
        if not self._is_mine:
            self._dropped.add(self._name)

    @property
    def is_cancelling(self) -> bool:
        """True if a turn of this session was cancelled and has not ended: the next prompt is sent after that."""
        return bool(self._dropped)

    @property
    def is_prompted(self) -> bool:
        """True if a prompt waits for the end of the turn that runs."""
        return self._is_waiting and self._is_mine

    @property
    def _is_waiting(self) -> bool:
        return self._end is not None and not self._end.done()

    @property
    def _is_mine(self) -> bool:
        """True if the turn of the newest prompt runs."""
        return bool(self.running) and self._current == self._name

    def _settle(self, end: End) -> None:
        if self._end and self.is_prompted:
            self._end.set_result(end)

    def _describe_end(self, event: ev.TurnEnded) -> End:
        if event.text == PROCESS_ENDED:
            return make_error("The process that ran this turn has ended. Send a prompt to continue.")
        if event.reason is not StopReason.ERROR:
            return schema.PromptResponse(stop_reason=_STOPS[event.reason])
        return make_error(self._failure or event.text or "The turn failed.")


def _name_turn(name: str, number: int) -> str:
    """Return the name of a turn here; one whose sender gave none is named by its number."""
    return name or f"turn {number}"
