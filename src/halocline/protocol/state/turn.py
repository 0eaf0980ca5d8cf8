"""The running turn, and the structured answer of the latest one."""

from collections.abc import Mapping

from msgspec.structs import replace

from halocline.protocol.events.questions import AnswerRefused
from halocline.protocol.events.tool_calls import FileChanged, ToolCallEnded, ToolCallStarted
from halocline.protocol.kinds import ToolKind
from halocline.protocol.values import JsonObject, Value


class TurnState(Value, frozen=True):
    """The running turn. `seq` is the number of its first event, `first_message` the index of its prompt.

    `acted`: a file changed in it, or a command ran; `questioned`: the model was asked to check its work.
    `ended` has the newest end of each tool's calls.
    """

    started_at: float
    seq: int = 0
    steps: int = 0
    is_over: bool = False
    first_message: int = 0
    acted: bool = False
    questioned: bool = False
    ended: Mapping[str, ToolCallEnded] = {}


class AnswerState(Value, frozen=True):
    """The schema that the turn's answer must match, the answer that does, and those refused in a row."""

    schema: JsonObject | None = None
    accepted: JsonObject | None = None
    refused: tuple[AnswerRefused, ...] = ()

    def after_refusal(self, event: AnswerRefused) -> "AnswerState":
        return replace(self, refused=(*self.refused, event))


def go_on(turn: TurnState | None, *, questioned: bool = False) -> TurnState | None:
    """Return the turn after a message that keeps it from ending."""
    return turn and replace(turn, is_over=False, questioned=turn.questioned or questioned)


def note_action(turn: TurnState | None, event: FileChanged | ToolCallStarted) -> TurnState | None:
    """Return the turn after a file changed, or a call started: a command may change anything."""
    acts = isinstance(event, FileChanged) or event.kind is ToolKind.EXECUTE
    return replace(turn, acted=True) if turn and acts and not turn.acted else turn


def end_call(turn: TurnState | None, event: ToolCallEnded) -> TurnState | None:
    """Return the turn after the end of a call."""
    ended = turn and {**turn.ended, event.name: event}
    return turn and replace(turn, is_over=turn.is_over or event.ends_turn, ended=ended)
