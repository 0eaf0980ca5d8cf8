"""The family of errors that Halocline explains.

HaloclineError          something failed that a person can understand and act on
├── UsageError          the words of the call are wrong (exit code 2)
├── SettingsError       a settings file is wrong (exit code 2)
├── SecretsError        a stored key cannot be read or kept
├── ModelError          the model could not be asked or broke off; `kind` says how
├── ToolFailure         a tool could not do its work; the model reads the text
├── TaskBusy            another process owns the task
└── TaskNotFound        there is no such task
"""

from enum import StrEnum


class HaloclineError(Exception):
    """`text` says what happened and to what; `hint` says what to do next."""

    code = "error"

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint


class NotWhole(HaloclineError):
    """Something was done as far as it could be, and a part of it could not."""

    code = "not_whole"


class UsageError(HaloclineError):
    code = "usage"


class SettingsError(HaloclineError):
    code = "settings"


class SecretsError(HaloclineError):
    code = "secrets"


class TaskBusy(HaloclineError):
    code = "task_busy"


class TaskNotFound(HaloclineError):
    code = "task_not_found"


class LogDamaged(HaloclineError):
    """A line other than the last one cannot be read."""

    code = "log_damaged"


class LogTooNew(LogDamaged):
    """A newer version wrote the log, in a way that this one does not know."""

    code = "log_too_new"


class ToolFailure(HaloclineError):
    """What the model should do instead; it reads `text` as the call's result."""

    code = "tool_failure"


class ModelErrorKind(StrEnum):
    """Why a model did not answer; decides whether asking again can help."""

    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    SERVER = "server"
    CONTEXT_EXCEEDED = "context_exceeded"
    NOT_FOUND = "not_found"
    INVALID_REQUEST = "invalid_request"
    REFUSED = "refused"
    NETWORK = "network"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    PROXY = "proxy"
    STALLED = "stalled"
    MALFORMED = "malformed"
    EMPTY = "empty"
    TOO_LONG = "too_long"


RETRYABLE = frozenset(
    {
        ModelErrorKind.RATE_LIMIT,
        ModelErrorKind.OVERLOADED,
        ModelErrorKind.SERVER,
        ModelErrorKind.NETWORK,
        ModelErrorKind.UNREACHABLE,
        ModelErrorKind.STALLED,
        ModelErrorKind.MALFORMED,
        ModelErrorKind.EMPTY,
    }
)


class ModelError(HaloclineError):
    """A model request failed. `retry_after` is in seconds, when the server named it."""

    code = "model"

    def __init__(
        self,
        kind: ModelErrorKind,
        text: str,
        hint: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(text, hint)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.code = f"model_{kind.value}"

    @property
    def retryable(self) -> bool:
        return self.kind in RETRYABLE
