"""Commands: imperative values that a surface sends. The answer is events, not return values."""

from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, Choice, Grant, Mode, Scope
from halocline.protocol.messages import Effort, UserPart
from halocline.protocol.values import JsonObject, Tagged, Value


class Command(Tagged, frozen=True, kw_only=True):
    """A command to one task. `client` names its sender."""

    task: str
    client: str = ""


C = TypeVar("C", bound=Command)


def check_command(command: C) -> C:
    """Return a command with its words as values: a program may have written `decision="allow_once"`.

    Raises UsageError if a field has a value that it cannot have.
    """
    kind = type(command)
    try:
        return msgspec.convert(msgspec.to_builtins(command), kind)
    except (msgspec.ValidationError, TypeError) as error:
        raise UsageError(
            f"The command {kind.__name__} is not valid: {error}.", "See the reference of commands."
        ) from error


class EditorState(Value, frozen=True):
    """Files open in an editor, the active one first. The model gets paths inside the workspace relative to it."""

    visible: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


class SubmitPrompt(Command, frozen=True):
    """Start a turn, or queue the prompt if a turn is running. It does not answer pending questions or approvals.

    A queued prompt is sent when the turn ends well. After a turn that was stopped or failed it waits until it is sent
    with `SendQueued`, unless it was sent `after_stop`: as is every prompt that comes once the turn is being stopped.

    The answer must match `output_schema`, if set. Slash commands are expanded, unless the prompt is `verbatim`, for
    text that no one typed. `editor` is the state of the person's editor, if known. `turn` names the turn that it
    starts, so that the sender knows it. It waits until the tasks `after` have ended well.
    """

    content: tuple[UserPart, ...]
    output_schema: JsonObject | None = None
    editor: EditorState | None = None
    verbatim: bool = False
    turn: str = ""
    after_stop: bool = False
    after: tuple[str, ...] = ()


class Steer(Command, frozen=True):
    """Send a message to the running turn; it is delivered once, before the next request.

    It answers pending approvals and questions: no pending call runs. If the turn has just ended well, or none runs, a
    turn begins with it. If the turn is stopped or fails first, it waits until it is sent with `SendQueued`.
    """

    content: tuple[UserPart, ...]


class SendQueued(Command, frozen=True):
    """Send messages that wait, all that are held if none are named: in order, once no turn runs.

    With `steer` they go to the running turn, as with `Steer`.
    """

    messages: tuple[int, ...] = ()
    steer: bool = False


class EditQueued(Command, frozen=True):
    """Change the words of a message that waits, or its place in the queue, counted from 0. Attachments stay."""

    message: int
    text: str | None = None
    place: int | None = None


class WithdrawQueued(Command, frozen=True):
    """Take a message that waits out of the queue. It comes too late if the message was delivered."""

    message: int


class Interrupt(Command, frozen=True):
    """End the running turn now. `turn` is the number of its first event: it spares every other turn; 0 takes any."""

    turn: int = 0


class RetryNow(Command, frozen=True):
    """Retry a failed request now instead of waiting."""


class ResolveApproval(Command, frozen=True):
    """Decide an approval. On allow_once, `arguments` replaces the call's arguments (an edited command).

    On allow_always, `scope` is how far the grant reaches, and `wider` picks the more general grant on offer. `seen`
    identifies the version of the edit that the person saw (`task.pending`). `content` goes to the model with the
    `note`: images, and notes about them. Of an edit of several files, those whose paths (as in its diffs) are `refused`
    stay as they are, and `arguments` do not count. After a refusal that `goes_on`, the later calls of the reply run:
    the person decides about each.
    """

    request: str
    decision: Choice
    note: str = ""
    arguments: dict[str, object] | None = None
    scope: Scope = Scope.TASK
    wider: bool = False
    seen: str = ""
    content: tuple[UserPart, ...] = ()
    refused: tuple[str, ...] = ()
    goes_on: bool = False


class AnswerQuestion(Command, frozen=True):
    """Answer a question."""

    request: str
    answer: str


class SetMode(Command, frozen=True):
    """Switch between plan and act mode."""

    mode: Mode


class SetPolicy(Command, frozen=True):
    """Set the approval mode."""

    approval_mode: ApprovalMode


class SetApprovalSwitch(Command, frozen=True):
    """Always allow a kind of action in this task (`on`), always ask (false), or follow the approval mode (None)."""

    switch: ApprovalSwitch
    on: bool | None = None


class TakeBack(Command, frozen=True):
    """Revoke a permanent grant of this task: the next such call needs approval again."""

    grant: Grant


class SetJudge(Command, frozen=True):
    """Turn the judge of approvals off for this task, or on again."""

    on: bool


class SetGoal(Command, frozen=True):
    """Set what turns have to reach: until `command` exits with 0 or, without one, until `text` is evidently done.

    The command then needs no approval; a rule may still deny it. Neither of both takes the goal back.
    """

    text: str = ""
    command: str = ""


class SetEffort(Command, frozen=True):
    """Set the reasoning effort from the next request on: a level, or `budget` tokens. Neither resets it."""

    effort: Effort | None = None
    budget: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None


class Compact(Command, frozen=True):
    """Compact the conversation now, or before the next request of a running turn; `focus` says what to keep.

    `undo` reverts the latest compaction.
    """

    focus: str = ""
    undo: bool = False


class DropPictures(Command, frozen=True):
    """Take all pictures so far out of what models read. The log keeps them."""


class GoBack(Command, frozen=True):
    """Rewind files, conversation or both to their state after event `to`. A running turn is interrupted.

    `overwrite` also restores files that someone else changed since.
    """

    to: int
    files: bool = True
    conversation: bool = True
    overwrite: bool = False


class EditMessage(Command, frozen=True):
    """Replace the prompt of event `seq`: rewind to before it (with `files`, the files too) and start a turn."""

    seq: int
    content: tuple[UserPart, ...]
    files: bool = False


class Fork(Command, frozen=True):
    """Fork the task as `to`, with the events up to `at` (0: all). The fork is not opened."""

    to: str
    at: int = 0


class RunCommand(Command, frozen=True):
    """Run a command as the user (`!`): no approval, no turn; the model sees its output afterwards.

    With `as_task` it runs as the task's own commands do: in their sandbox, from the workspace, without what earlier
    commands left in the shell.
    """

    command: str
    as_task: bool = False


class StopCommand(Command, frozen=True):
    """Stop a command that the user runs, with all its processes; its output so far is kept."""

    run: str


class LeaveRunning(Command, frozen=True):
    """Move the running command to the background as a job; its call ends with the output so far.

    `run` names a command of the user; empty means the model's.
    """

    run: str = ""


class StopJob(Command, frozen=True):
    """Stop a job with all its processes."""

    job: str


class StopHook(Command, frozen=True):
    """Stop a running hook; an empty `run` means all that are shown.

    A hook that guards a call or a prompt refuses it then.
    """

    run: str = ""


class Label(Command, frozen=True):
    """Set the task's name, tags or favorite mark. None keeps a value; an empty name removes the name."""

    name: str | None = None
    tags: tuple[str, ...] | None = None
    favourite: bool | None = None


class CloseTask(Command, frozen=True):
    """Close the task; it can be resumed."""


AnyCommand = (
    SubmitPrompt
    | Steer
    | SendQueued
    | EditQueued
    | WithdrawQueued
    | Interrupt
    | RetryNow
    | ResolveApproval
    | AnswerQuestion
    | SetMode
    | SetPolicy
    | SetApprovalSwitch
    | SetJudge
    | SetGoal
    | SetEffort
    | TakeBack
    | Compact
    | DropPictures
    | GoBack
    | EditMessage
    | Fork
    | RunCommand
    | StopCommand
    | LeaveRunning
    | StopJob
    | StopHook
    | Label
    | CloseTask
)
