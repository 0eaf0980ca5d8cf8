"""Errors that Halocline reports to people or the model.

HaloclineError          something failed that a person can understand and act on
├── UsageError          the command line is wrong (exit code 2)
│   └── NoModel         no model is configured, and none is found
├── SettingsError       a settings file is invalid (exit code 2)
├── SecretsError        a key cannot be read or stored
├── ModelError          a model request failed; `kind` says how
├── ToolFailure         a tool call failed; the model reads the text
├── TaskBusy            another process owns the task
└── TaskNotFound        no such task
"""

from enum import StrEnum

from halocline.protocol.terminal_text import plain_output, plain_text


class HaloclineError(Exception):
    """An error: `text` says what happened and to what; `hint` says what to do next."""

    code = "error"

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint
        if hint:
            self.add_note(hint)  # programs show it below the traceback


class NotWhole(HaloclineError):
    """An action succeeded only in part."""

    code = "not_whole"


class UsageError(HaloclineError):
    """A request that cannot be carried out as it was made: an option, an argument, a command."""

    code = "usage"


class NoModel(UsageError):
    """No model is configured, and none is found."""


class SettingsError(HaloclineError):
    """A settings file that cannot be read, or has an invalid value."""

    code = "settings"


class SecretsError(HaloclineError):
    code = "secrets"


class TaskBusy(HaloclineError):
    """The task is open in another process."""

    code = "task_busy"


class TaskNotFound(HaloclineError):
    """No task has this id."""

    code = "task_not_found"


class LogDamaged(HaloclineError):
    """A log line other than the last one cannot be read."""

    code = "log_damaged"


class LogTooNew(LogDamaged):
    """The log is in a newer format than this version can read."""

    code = "log_too_new"


WRONG_CALL = "the model called a tool wrongly"
"""What a person reads of a call that only its model can mend."""


class ToolFailure(HaloclineError):
    """A failed tool call. The model reads `text` as the result: what happened, and then what to do instead.

    A person reads the first sentence of it, or `person` if that is given. `outside`: nothing is wrong with the call,
    but a person or another program changed its file meanwhile.
    """

    code = "tool_failure"

    def __init__(self, text: str, hint: str = "", *, person: str = "", outside: bool = False) -> None:
        super().__init__(text, hint)
        self.person = person
        self.outside = outside


LONG_WAIT = 300.0
"""Seconds: a server that asks to wait longer is not asked again, as the plan is used up."""


_LONGEST_TEXT = 2_000


class ModelErrorKind(StrEnum):
    """Reason why a model request failed; decides whether it is retried."""

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
    NOT_A_STREAM = "not_a_stream"
    NO_TOOLS = "no_tools"
    PICTURE = "picture"
    BLOCKED = "blocked"
    OVER_BUDGET = "over_budget"


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


UNBILLED = frozenset(
    {
        ModelErrorKind.AUTH,
        ModelErrorKind.QUOTA,
        ModelErrorKind.RATE_LIMIT,
        ModelErrorKind.CONTEXT_EXCEEDED,
        ModelErrorKind.NOT_FOUND,
        ModelErrorKind.INVALID_REQUEST,
        ModelErrorKind.UNREACHABLE,
        ModelErrorKind.TLS,
        ModelErrorKind.PROXY,
        ModelErrorKind.NO_TOOLS,
        ModelErrorKind.PICTURE,
        ModelErrorKind.BLOCKED,
        ModelErrorKind.OVER_BUDGET,
    }
)
"""Failures of requests that a server did not take, so that it bills nothing."""


class ModelError(HaloclineError):
    """A model request failed. `retry_after` is in seconds, if the server sent it; `said` are its own words.

    Whatever servers, proxies and libraries put into `text`, a person reads nothing hidden in it.
    """

    code = "model"

    def __init__(
        self,
        kind: ModelErrorKind,
        text: str,
        hint: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        said: str = "",
    ) -> None:
        super().__init__(plain_text(plain_output(text), _LONGEST_TEXT), hint)
        self.kind = kind
        self.said = said
        self.status = status
        self.retry_after = retry_after
        self.code = f"model_{kind.value}"

    @property
    def retryable(self) -> bool:
        """True if the same request may succeed later."""
        return self.kind in RETRYABLE

    @property
    def is_unbilled(self) -> bool:
        """True if the server did not take the request, unless output came before."""
        is_refused = self.status is not None and (self.status < 500 or self.status in (503, 529))
        return is_refused or self.kind in UNBILLED

    @property
    def waits_long(self) -> bool:
        """True if the server asks to wait longer than a retry would."""
        return (self.retry_after or 0.0) > LONG_WAIT
