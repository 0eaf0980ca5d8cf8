"""Questions to a person and what they answer; answers to a task, and whether they have the form that was asked for."""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.messages import UserPart
from halocline.protocol.values import JsonObject


class QuestionAsked(Durable, frozen=True):
    """The agent (or a budget) asks the person something. `call` is empty when no tool call asks."""

    request: str
    question: str
    options: tuple[str, ...] = ()
    call: str = ""


class QuestionAnswered(Durable, frozen=True):
    """The answer; `by` is user, nobody, interrupt, message (one was sent instead), or withdrawn by who had asked."""

    request: str
    answer: str
    by: str
    client: str = ""


class AnswerAccepted(Durable, frozen=True):
    """The turn's answer is one JSON object that fits the schema."""

    answer: JsonObject


class AnswerRefused(Durable, frozen=True):
    """The turn's answer does not fit the schema; `problems` say where and why, `content` tells the model."""

    problems: tuple[str, ...]
    content: tuple[UserPart, ...]
