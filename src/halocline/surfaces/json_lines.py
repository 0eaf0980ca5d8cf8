"""JSON-RPC messages as lines over pipes. A line that is no valid message is answered with an error and goes no further.

JSON-RPC 2.0 is specified at https://www.jsonrpc.org/specification; ACP has no batches.
"""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from halocline.protocol import json_input
from halocline.protocol.patterns import compile_later

LONGEST_LINE = 64 * 1024 * 1024
"""Longest message in bytes: a prompt with some large images."""
PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32602, -32603
JsonMessage = dict[str, Any]
BEGINNING = 300
"""Bytes that are kept of a line that is too long: its id, so that it can be answered."""
_ID = compile_later(
    rb"""\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?
    (?:"method"\s*:\s*"[^"\\]*"\s*,\s*"id"\s*:\s*(?P<last>-?\d{1,18}|"[^"\\]{0,100}")\s*[,}]
    |"id"\s*:\s*(?P<first>-?\d{1,18}|"[^"\\]{0,100}")\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method")""",
    re.VERBOSE,
)


class LineTransport:
    """The SDK's `Transport` over a stream of lines. `receive` returns None at the end of the input.

    `find_fault` says what is wrong with the params of a message; usually nothing. Such a request is refused.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        find_fault: Callable[[object], str] = lambda params: "",
    ) -> None:
        self._find_fault = find_fault
        self._reader = reader
        self._writer = writer
        self._sending = asyncio.Lock()

    async def send(self, message: JsonMessage) -> None:
        """Write one message. Raises ConnectionError if the reader is gone."""
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        async with self._sending:
            self._writer.write(line + b"\n")
            await self._writer.drain()

    async def receive(self) -> JsonMessage | None:
        """Return the next valid message, and answer the others."""
        while (line := await self._read_line()) is not None:
            message, refusal = check_message(line) if line.strip() else (None, None)
            if message is not None:
                if not (fault := self._find_fault(message.get("params"))):
                    return message
                refusal = _make_refusal(message.get("id"), INVALID_PARAMS, fault)
            if refusal is not None:
                with suppress(ConnectionError):
                    await self.send(refusal)
        return None

    async def close(self) -> None:
        """Close the output."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _read_line(self) -> bytes | None:
        """Return the next line; a part of it if it is too long; None at the end."""
        cut = b""
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                part = await self._reader.readexactly(error.consumed)
                cut = cut or part[:BEGINNING]
            except asyncio.IncompleteReadError as error:
                return cut or error.partial or None
            except ConnectionError:
                return None
            else:
                return cut or line


def check_message(line: bytes) -> tuple[JsonMessage | None, JsonMessage | None]:
    """Return the message in a line, or the answer to one that is invalid; neither for an answer to nothing."""
    try:
        found = json_input.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return None, _make_refusal(_find_id(line), PARSE_ERROR, f"The line is not JSON: {error}")
    if not isinstance(found, dict):
        return None, _make_refusal(None, INVALID_REQUEST, "A message must be a JSON object; batches are not supported")
    sender = found.get("id")
    has_valid_id = sender is None or isinstance(sender, str | int | float)
    if "method" in found:
        reason = _find_fault(found)
        if not has_valid_id:
            return None, _make_refusal(None, INVALID_REQUEST, "An id must be a string, a number or null")
        return (found, None) if not reason else (None, _make_refusal(sender, INVALID_REQUEST, reason))
    if "result" in found or "error" in found:
        return (_tidy_response(found), None) if isinstance(sender, str | int) else (None, None)
    return None, _make_refusal(sender if has_valid_id else None, INVALID_REQUEST, "A message needs a method")


def _find_id(line: bytes) -> str | int | None:
    """Return the id at the beginning of a request that cannot be read: without it, its sender waits for ever."""
    found = _ID.match(line)
    with suppress(UnicodeDecodeError, msgspec.DecodeError):
        return json_input.decode(found["first"] or found["last"], str | int) if found else None
    return None


def _find_fault(message: JsonMessage) -> str:
    """Say why a request or notification is invalid; empty if it is valid."""
    if message.get("jsonrpc") != "2.0":
        return 'A message needs "jsonrpc": "2.0"'
    if not isinstance(message["method"], str):
        return "The method must be a string"
    if not isinstance(message.get("params", {}), dict | list | None):
        return "The params must be an object"
    return ""


def _tidy_response(message: JsonMessage) -> JsonMessage:
    """Return a response whose error, if any, has a code and a message."""
    error = message.get("error")
    if error is None or (isinstance(error, dict) and isinstance(error.get("code"), int)):
        return message
    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": INTERNAL_ERROR, "message": "An invalid error"}}


def _make_refusal(sender: object, code: int, reason: str) -> JsonMessage:
    return {"jsonrpc": "2.0", "id": sender, "error": {"code": code, "message": reason}}
