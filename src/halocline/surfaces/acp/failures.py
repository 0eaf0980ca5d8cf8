"""Halocline's errors as errors of the protocol."""

from acp import RequestError

from halocline.protocol.errors import HaloclineError, TaskNotFound, UsageError

NOT_FOUND = -32002
"""The protocol's code for a resource that does not exist."""


def explain_failure(error: HaloclineError) -> RequestError:
    """Return an error of ours as one of the protocol."""
    text = " ".join(part for part in (getattr(error, "text", str(error)), getattr(error, "hint", "")) if part)
    code = NOT_FOUND if isinstance(error, TaskNotFound) else -32602 if isinstance(error, UsageError) else -32603
    return RequestError(code, text, {"details": text})
