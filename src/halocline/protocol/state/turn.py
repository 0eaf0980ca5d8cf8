"""The running turn, and the structured answer of the latest one."""

from halocline.protocol.events.questions import AnswerRefused
from halocline.protocol.values import JsonObject, Value


class TurnState(Value, frozen=True):
    """The running turn. `first_message` is the index of its prompt."""

    started_at: float
    steps: int = 0
    is_over: bool = False
    first_message: int = 0


class AnswerState(Value, frozen=True):
    """The schema that the turn's answer must match, the answer that does, and those refused in a row."""

    schema: JsonObject | None = None
    accepted: JsonObject | None = None
    refused: tuple[AnswerRefused, ...] = ()
