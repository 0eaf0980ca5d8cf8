"""What is wished for: imperative values a surface sends. They are answered by events, not by return values."""

from halocline.protocol.events import ApprovalMode, Choice, Mode, Scope
from halocline.protocol.messages import UserPart
from halocline.protocol.values import JsonObject, Tagged


class Command(Tagged, frozen=True, kw_only=True):
    """Sent to one task. `client` names who sent it."""

    task: str
    client: str = ""


class SubmitPrompt(Command, frozen=True):
    """Begin a turn. Its answer has to fit `output_schema`, when there is one; `tool` is one that the person wants."""

    content: tuple[UserPart, ...]
    output_schema: JsonObject | None = None
    tool: str = ""


class Steer(Command, frozen=True):
    """Text for the running turn; it is delivered once, before the next request."""

    content: tuple[UserPart, ...]


class Interrupt(Command, frozen=True):
    """End the running turn now."""


class ResolveApproval(Command, frozen=True):
    """Decide about one request. `arguments` replaces the call's arguments (an edited command) on allow_once.

    On allow_always, `scope` says how far it reaches, and `wider` that the more general grant on offer is meant.
    """

    request: str
    decision: Choice
    note: str = ""
    arguments: dict[str, object] | None = None
    scope: Scope = Scope.TASK
    wider: bool = False


class AnswerQuestion(Command, frozen=True):
    request: str
    answer: str


class SetMode(Command, frozen=True):
    mode: Mode


class SetPolicy(Command, frozen=True):
    approval_mode: ApprovalMode


class Compact(Command, frozen=True):
    """Shorten what the model reads; `focus` says what matters most. Between turns at once, in a turn before a request.

    With `undo`, the latest compaction does not count any more.
    """

    focus: str = ""
    undo: bool = False


class LeaveRunning(Command, frozen=True):
    """Let the command that runs now go on as a job; its call ends with what it printed so far."""


class StopJob(Command, frozen=True):
    """End a job with all its processes."""

    job: str


class Label(Command, frozen=True):
    """Name or mark the task. None leaves it as it was; an empty name takes the name away."""

    name: str | None = None
    tags: tuple[str, ...] | None = None
    favourite: bool | None = None


class CloseTask(Command, frozen=True):
    """Let go of the task; it can be resumed."""


AnyCommand = (
    SubmitPrompt
    | Steer
    | Interrupt
    | ResolveApproval
    | AnswerQuestion
    | SetMode
    | SetPolicy
    | Compact
    | LeaveRunning
    | StopJob
    | Label
    | CloseTask
)
