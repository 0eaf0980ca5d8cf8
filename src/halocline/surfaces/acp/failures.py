"""Halocline's errors as errors of the protocol. Clients show the message, so it says what happened and what to do."""

from acp import RequestError

from halocline.protocol.errors import HaloclineError, TaskNotFound, UsageError

INVALID_REQUEST, INVALID_PARAMS, INTERNAL_ERROR = -32600, -32602, -32603
NOT_FOUND = -32002
"""The protocol's code for a resource that does not exist."""


def explain_failure(error: HaloclineError) -> RequestError:
    """Return an error of ours as one of the protocol."""
    text = " ".join(part for part in (getattr(error, "text", str(error)), getattr(error, "hint", "")) if part)
    match error:
        case TaskNotFound():
            return make_error(text, NOT_FOUND)
        case UsageError():
            return make_error(text, INVALID_PARAMS)
    return make_error(text)


def make_error(text: str, code: int = INTERNAL_ERROR) -> RequestError:
    return RequestError(code, text, {"details": text})


def refuse_params(text: str) -> RequestError:
    """Return the error for a request that asks for something that is not there or not possible."""
    return make_error(text, INVALID_PARAMS)
