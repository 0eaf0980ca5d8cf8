"""What is wished for: imperative values a surface sends. They are answered by events, not by return values."""

from typing import Annotated

from msgspec import Meta

from halocline.protocol.events import ApprovalMode, ApprovalSwitch, Choice, Grant, Mode, Scope
from halocline.protocol.messages import Effort, UserPart
from halocline.protocol.values import JsonObject, Tagged, Value


class Command(Tagged, frozen=True, kw_only=True):
    """Sent to one task. `client` names who sent it."""

    task: str
    client: str = ""


class EditorState(Value, frozen=True):
    """What an editor shows: paths, relative to the workspace where they are inside; the one in front first."""

    visible: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


class SubmitPrompt(Command, frozen=True):
    """Begin a turn; while one runs, the next one, which answers nothing that is asked now.

    Its answer has to fit `output_schema`, when there is one.

    Slash commands in it are expanded, unless it is `verbatim`: nobody typed it. `editor` is what the person has before
    them, where a surface knows.
    """

    content: tuple[UserPart, ...]
    output_schema: JsonObject | None = None
    editor: EditorState | None = None
    verbatim: bool = False


class Steer(Command, frozen=True):
    """A message for the running turn; it is delivered once, before the next request.

    While an approval or a question waits, the message is the answer to it: nothing that waited runs.
    """

    content: tuple[UserPart, ...]


class Interrupt(Command, frozen=True):
    """End the running turn now."""


class RetryNow(Command, frozen=True):
    """Wait no longer for the next attempt of a request that failed: make it now."""


class ResolveApproval(Command, frozen=True):
    """Decide about one request. `arguments` replaces the call's arguments (an edited command) on allow_once.

    On allow_always, `scope` says how far it reaches, and `wider` that the more general grant on offer is meant. `seen`
    names what the edit would do now (`task.pending`), when that is what the person agrees to. `content` is what goes
    to the model with the `note`: pictures, and notes about them.
    """

    request: str
    decision: Choice
    note: str = ""
    arguments: dict[str, object] | None = None
    scope: Scope = Scope.TASK
    wider: bool = False
    seen: str = ""
    content: tuple[UserPart, ...] = ()


class AnswerQuestion(Command, frozen=True):
    request: str
    answer: str


class SetMode(Command, frozen=True):
    mode: Mode


class SetPolicy(Command, frozen=True):
    approval_mode: ApprovalMode


class SetApprovalSwitch(Command, frozen=True):
    """Allow a kind of act in this task (`on`), ask about it (false), or leave it to the approval mode (None)."""

    switch: ApprovalSwitch
    on: bool | None = None


class TakeBack(Command, frozen=True):
    """Leave that was given for good in this task holds no more: the next such call is asked about again."""

    grant: Grant


class SetEffort(Command, frozen=True):
    """How hard the model shall think from the next request on: a level, or `budget` tokens. Neither: as set."""

    effort: Effort | None = None
    budget: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None


class Compact(Command, frozen=True):
    """Shorten what the model reads; `focus` says what matters most. Between turns at once, in a turn before a request.

    With `undo`, the latest compaction does not count any more.
    """

    focus: str = ""
    undo: bool = False


class GoBack(Command, frozen=True):
    """Back to how it was after event `to`: the files, the conversation, or both. A turn that runs is interrupted.

    With `overwrite`, files that somebody else changed since go back as well.
    """

    to: int
    files: bool = True
    conversation: bool = True
    overwrite: bool = False


class EditMessage(Command, frozen=True):
    """Say the prompt that is event `seq` anew: go back to before it (with `files`, these too), and begin a turn."""

    seq: int
    content: tuple[UserPart, ...]
    files: bool = False


class Fork(Command, frozen=True):
    """Begin a task, `to`, that has the events up to `at` (0: all) for its past. It is not opened."""

    to: str
    at: int = 0


class RunCommand(Command, frozen=True):
    """Run a command as the person (`!`): nobody is asked, no turn begins, and the model hears of it afterwards."""

    command: str


class StopCommand(Command, frozen=True):
    """End a command that the person runs, with all its processes; what it printed so far counts."""

    run: str


class LeaveRunning(Command, frozen=True):
    """Let the command that runs now go on as a job; its call ends with what it printed so far.

    `run` names one that the person runs themselves; empty, it is the model's.
    """

    run: str = ""


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
    | RetryNow
    | ResolveApproval
    | AnswerQuestion
    | SetMode
    | SetPolicy
    | SetApprovalSwitch
    | SetEffort
    | TakeBack
    | Compact
    | GoBack
    | EditMessage
    | Fork
    | RunCommand
    | StopCommand
    | LeaveRunning
    | StopJob
    | Label
    | CloseTask
)
