"""The vocabulary of hooks: when they run, who owns them, how a run ended and what it decided."""

from enum import StrEnum

from halocline.protocol.events.durable import Durable, Transient
from halocline.protocol.messages import UserPart
from halocline.protocol.values import JsonObject


class HookPoint(StrEnum):
    """The events on which hooks run; named like Cline's hooks."""

    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"
    USER_PROMPT_SUBMIT = "UserPromptSubmit"
    TASK_START = "TaskStart"
    TASK_RESUME = "TaskResume"
    TASK_CANCEL = "TaskCancel"
    TASK_COMPLETE = "TaskComplete"
    TASK_ERROR = "TaskError"
    SESSION_SHUTDOWN = "SessionShutdown"
    NOTIFICATION = "Notification"
    PRE_COMPACT = "PreCompact"


BEFORE_THE_MODEL = (HookPoint.TASK_START, HookPoint.TASK_RESUME, HookPoint.USER_PROMPT_SUBMIT)
"""Hooks that run between typing a prompt and sending it to the model."""


class HookSource(StrEnum):
    """Owner of a hook: a plug-in, the project or the user. They run in this order, so the user has the last word."""

    PLUGIN = "plugin"
    PROJECT = "project"
    USER = "user"


class HookStatus(StrEnum):
    """Outcome of a hook's run."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    """It was ended together with its turn."""
    STOPPED = "stopped"
    """A person stopped it alone. What it guards does not happen."""


class HookDecision(StrEnum):
    """Decision of a hook; of several, the strictest wins."""

    NONE = ""
    ALLOW = "allow"
    ASK = "ask"
    BLOCK = "block"


class HookRan(Durable, frozen=True):
    """A hook ran. `said` is its reason, or why it failed; a failed hook may block too.

    `content` is what it adds for the model: to the conversation, or to the result of `call` if it ran for one.
    `arguments` replace the call's input. `stops` ends the turn. `run` is its name in `HookProgressed`, if it was shown.
    """

    hook: str
    moment: HookPoint
    source: HookSource
    status: HookStatus
    call: str = ""
    decision: HookDecision = HookDecision.NONE
    exit_code: int | None = None
    seconds: float = 0.0
    said: str = ""
    content: tuple[UserPart, ...] = ()
    arguments: JsonObject | None = None
    stops: bool = False
    run: str = ""


class HookProgressed(Transient, frozen=True):
    """New output of a hook that has been running for a second or more; the first one may be empty.

    `run` identifies this run of the hook, to stop it; `call` is the call it runs for.
    """

    run: str
    hook: str
    moment: HookPoint
    call: str = ""
    text: str = ""
