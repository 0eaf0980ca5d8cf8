"""Questions to a person and their answers; answers of a task that must match a schema; goals, and their checks."""

from enum import StrEnum

from halocline.protocol.events.durable import Durable
from halocline.protocol.messages import UserPart
from halocline.protocol.values import JsonObject

LONGEST_LINE = 120


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


class GoalSet(Durable, frozen=True):
    """You set a goal: turns go on until `command` exits with 0 or, without one, until `text` is reported and evident.

    Without both, the goal is taken back. `client` sent it.
    """

    text: str = ""
    command: str = ""
    client: str = ""


class GoalVerdict(StrEnum):
    """Outcome of a check of a goal."""

    MET = "met"
    UNMET = "unmet"
    REFUSED = "refused"
    """A rule forbids the goal's command, so it was not run."""


class GoalChecked(Durable, frozen=True):
    """The goal was checked as a turn was about to end. If it is not met, `content` sends the model back to work.

    `end` says how the `command` ended (`exit 1`, `timed out`), or what is missing; `output` is the end of what it
    printed. Equal values of `failure` are the same failure but for numbers and times, and of `tree` the same files.
    """

    verdict: GoalVerdict
    command: str = ""
    end: str = ""
    output: str = ""
    failure: str = ""
    tree: str = ""
    seconds: float = 0.0
    content: tuple[UserPart, ...] = ()

    @property
    def gist(self) -> str:
        """The end of the check, with the last line of the output of one that failed."""
        last = self.output.rstrip().rpartition("\n")[2].strip() if self.verdict is GoalVerdict.UNMET else ""
        return f"{self.end}: {last[:LONGEST_LINE]}" if last else self.end
