"""Questions to a person and their answers; answers of a task that must match a schema."""

from halocline.protocol.events.durable import Durable
from halocline.protocol.messages import UserPart
from halocline.protocol.values import JsonObject


class QuestionAsked(Durable, frozen=True):
    """The agent, or a limit, asks you a question. `call` is empty if no tool call asks."""

    request: str
    question: str
    options: tuple[str, ...] = ()
    call: str = ""


class QuestionAnswered(Durable, frozen=True):
    """A question was answered. `by`: user, `nobody`, interrupt, message (sent instead) or withdrawn (by the asker)."""

    request: str
    answer: str
    by: str
    client: str = ""


class CompletionQuestioned(Durable, frozen=True):
    """The model would have ended the turn, and is to check its work first; `content` tells it."""

    content: tuple[UserPart, ...]


class CompletionRequired(Durable, frozen=True):
    """The model would have ended the turn without attempt_completion, which is required; `content` tells it."""

    content: tuple[UserPart, ...]


class AnswerAccepted(Durable, frozen=True):
    """The turn's answer is a JSON object that matches the schema."""

    answer: JsonObject


class AnswerRefused(Durable, frozen=True):
    """The turn's answer does not match the schema; `problems` say where and why, `content` tells the model."""

    problems: tuple[str, ...]
    content: tuple[UserPart, ...]
