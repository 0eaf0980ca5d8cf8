"""Translate the SDK's exceptions to our three: `Broken` (the connection), `Refused` (an answer), `SignInNeeded`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import httpx2
from mcp import MCPError
from pydantic import ValidationError

from halocline.mcp.connection.setup import FORGOTTEN, Broken, Refused, SignInNeeded
from halocline.mcp.tool_names import plain_text

_LOST = (-32000, -32001)
"""The SDK's own codes: connection closed, request timed out."""
TROUBLES = (
    OSError,
    ValueError,
    RuntimeError,
    TimeoutError,
    MCPError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
    anyio.EndOfStream,
    ExceptionGroup,
)


def is_lost(error: BaseException) -> bool:
    """True if it says that the connection ended, not that an answer is bad."""
    return isinstance(error, MCPError) and (error.code in _LOST or error.message.lower() in FORGOTTEN)


@contextmanager
def translated(wanted: Callable[[], str] = str) -> Iterator[None]:
    """Use around SDK calls. `wanted` returns how a person must sign in, or ""."""
    try:
        yield
    except TROUBLES as error:
        if asked := wanted():
            raise SignInNeeded(asked) from error
        if isinstance(error, MCPError) and not is_lost(error):
            raise Refused(plain_text(error.message, 2_000)) from error
        if isinstance(error, ValidationError):
            raise Refused("its answer is not valid MCP") from error
        raise Broken(_describe_error(error)) from error


def describe_status(status: int, words: str = "") -> str:
    """Describe an HTTP error, with what the server said about it."""
    hint = "; check its credentials" if status in (401, 403) else ""
    said = " ".join(plain_text(words, 300).split())
    return f"it answered with HTTP status {status}{f' ({said})' if said else ''}{hint}"


def _describe_error(error: BaseException) -> str:
    """Describe the innermost cause."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case httpx2.HTTPStatusError():
            return describe_status(error.response.status_code)
        case httpx2.ConnectError():
            return f"it cannot be reached ({plain_text(str(error), 500)})"
        case Broken():
            return error.text
        case FileNotFoundError():
            return f"program or folder not found: {error.filename or 'no name given'}"
        case TimeoutError():
            return "it did not answer in time"
        case MCPError():
            words = plain_text(error.message, 500)
            return words.lower() if words.lower() in FORGOTTEN else words[:1].lower() + words[1:]
        case OSError():
            return error.strerror or str(error)
    return plain_text(str(error), 500) or type(error).__name__
