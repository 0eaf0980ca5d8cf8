"""The words for hooks: when they run, whose they are, how a run ended and what was decided."""

from enum import StrEnum


class HookMoment(StrEnum):
    """When hooks run; the names of Cline's hooks."""

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


BEFORE_THE_MODEL = (HookMoment.TASK_START, HookMoment.TASK_RESUME, HookMoment.USER_PROMPT_SUBMIT)
"""The moments at which a prompt was typed and no model has read it yet."""


class HookSource(StrEnum):
    """Who set a hook up: the project or the person. The project's run first, so that the person's judge last."""

    PROJECT = "project"
    USER = "user"


class HookStatus(StrEnum):
    """How the run of a hook ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


class HookDecision(StrEnum):
    """What a hook decided; the strictest of several holds."""

    NONE = ""
    ALLOW = "allow"
    ASK = "ask"
    BLOCK = "block"
