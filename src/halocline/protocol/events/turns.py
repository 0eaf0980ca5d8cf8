"""The life of a task: its start, its turns, and what went wrong."""

from halocline.protocol.events.durable import Durable, Transient
from halocline.protocol.events.imports import Origin
from halocline.protocol.events.limits import Limits
from halocline.protocol.events.subagents import Subtask
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import StopReason, UserPart
from halocline.protocol.values import JsonObject


class TaskStarted(Durable, frozen=True):
    """A task began. The system prompt is fixed here, so that later requests repeat it byte for byte.

    `compact` means a compact system prompt and tools, for models with a small window. `window` is the model's context
    window in tokens, if known in advance. A fork starts with the events of `forked_from` up to `forked_at`. A task
    with an `origin` ran in another program: the model is that program's, and there is no system prompt until the task
    is adopted. `roots` are additional folders of the task. `subtask` marks a sub-agent's task. Logs of older versions
    have no `limits`. `server` is the address that was given for the model's provider, without a password; empty: its
    own. `folder_mark` is what the file system calls the workspace, also when it is renamed; empty if it cannot tell.
    `trace` is the trace that it belongs to (`protocol/traces/context`), where its spans are sent; otherwise empty.
    """

    workspace: str
    model: str
    mode: Mode
    approval_mode: ApprovalMode
    system_prompt: str
    version: str
    format: int = 1
    compact: bool = False
    forked_from: str = ""
    forked_at: int = 0
    origin: Origin | None = None
    window: int | None = None
    roots: tuple[str, ...] = ()
    subtask: Subtask | None = None
    limits: Limits | None = None
    server: str = ""
    folder_mark: str = ""
    trace: str = ""


class LogRepaired(Durable, frozen=True):
    """The log was repaired: an incomplete last line was cut after a crash, or damage was repaired on request.

    In the second case, `put_aside` names the file next to it with the original log.
    """

    bytes_cut: int
    put_aside: str = ""


class TurnStarted(Durable, frozen=True):
    """A turn started with this prompt. `output_schema` is the JSON Schema that its answer must match.

    `name` is the name that the sender of the prompt gave it, if any. `messages` are the queued messages that it
    delivers.
    """

    content: tuple[UserPart, ...]
    output_schema: JsonObject | None = None
    name: str = ""
    messages: tuple[int, ...] = ()


class SteeringReceived(Durable, frozen=True):
    """A message came during a turn. It answers a pending question or approval; the model reads it after the calls.

    `messages` are the queued messages that it delivers.
    """

    content: tuple[UserPart, ...]
    messages: tuple[int, ...] = ()


class TurnEnded(Durable, frozen=True):
    """The turn ended. If a limit ended it, `limit` names it; `text` is for people.

    `failed` says what failed last in a turn that the model ended: `the last edit`, `the last command (exit 1)`.
    """

    reason: StopReason
    limit: str = ""
    text: str = ""
    failed: tuple[str, ...] = ()

    @property
    def remark(self) -> str:
        """Return what failed as a sentence; empty if nothing did."""
        return f"The task ended, but {' and '.join(self.failed)} failed." if self.failed else ""


class HandedOver(Durable, frozen=True):
    """You approved a new task, `to`, that continues this work; `context` is all it starts with."""

    to: str
    context: str


class Noticed(Transient, frozen=True):
    """A notice for you that the task does not need."""

    text: str


class ErrorRaised(Durable, frozen=True):
    """Something failed. `hint` says what to do next."""

    code: str
    text: str
    hint: str = ""
    retryable: bool = False
