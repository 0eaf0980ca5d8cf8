"""JSON-RPC 2.0 between the extension and this process: requests and notifications both ways, one message a line.

Specified at https://www.jsonrpc.org/specification. Notifications are handled in order; requests run side by side.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from itertools import count
from typing import Any

import msgspec

from halocline.protocol.errors import HaloclineError
from halocline.protocol.values import JsonObject
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.json_lines import INTERNAL_ERROR, JsonMessage, LineTransport

METHOD_NOT_FOUND, INVALID_PARAMS, REFUSED = -32601, -32602, -32000
Handler = Callable[[JsonObject], Awaitable[Any]]
_LOGGER = logging.getLogger(__name__)


class EditorError(Exception):
    """The editor refused a request, or is gone."""


class Peer:
    """This side of the conversation. `handlers` answer the extension's requests and notifications by method."""

    def __init__(self, transport: LineTransport) -> None:
        self.handlers: Mapping[str, Handler] = {}
        self._transport = transport
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._answering: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Read messages until the extension closes the connection; then pending requests fail."""
        try:
            while (message := await self._transport.receive()) is not None:
                await self._take(message)
        finally:
            await end_tasks(*self._answering)
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(EditorError("The editor is gone."))

    async def request(self, method: str, params: JsonObject, timeout: float | None = None) -> Any:
        """Ask the editor and return its answer. Raises EditorError, also after `timeout` seconds."""
        number = next(self._numbers)
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            await self._send({"id": number, "method": method, "params": params})
            async with asyncio.timeout(timeout):
                return await waiting
        except ConnectionError as error:
            raise EditorError("The editor is gone.") from error
        except TimeoutError:
            raise EditorError(f"The editor did not answer {method} within {timeout:g} s.") from None
        finally:
            del self._waiting[number]

    async def notify(self, method: str, params: JsonObject) -> None:
        """Tell the editor something. Nothing happens if it is gone."""
        with suppress(ConnectionError):
            await self._send({"method": method, "params": params})

    async def _send(self, message: JsonMessage) -> None:
        await self._transport.send({"jsonrpc": "2.0", **message})

    async def _take(self, message: JsonMessage) -> None:
        if "method" not in message:
            self._settle(message)
        elif message.get("id") is None:
            await self._handle(message)
        else:
            answering = asyncio.create_task(self._answer(message))
            self._answering.add(answering)
            answering.add_done_callback(self._answering.discard)

    def _settle(self, message: JsonMessage) -> None:
        waiting = self._waiting.get(message["id"])
        if waiting is None or waiting.done():
            return
        if error := message.get("error"):
            waiting.set_exception(EditorError(str(error.get("message") or "The editor failed.")))
        else:
            waiting.set_result(message.get("result"))

    async def _answer(self, message: JsonMessage) -> None:
        with suppress(ConnectionError):
            await self._send({"id": message["id"], **await self._handle(message)})

    async def _handle(self, message: JsonMessage) -> JsonMessage:
        """Return the result of a message, or the error that it gets."""
        handler, params = self.handlers.get(message["method"]), message.get("params") or {}
        if handler is None:
            return _make_error(METHOD_NOT_FOUND, f"There is no method {message['method']!r}.")
        if not isinstance(params, dict):
            return _make_error(INVALID_PARAMS, "The params must be an object.")
        try:
            return {"result": await handler(params)}
        except msgspec.ValidationError as error:
            return _make_error(INVALID_PARAMS, f"{error}.")
        except HaloclineError as error:
            return _make_error(REFUSED, " ".join(filter(None, (error.text, error.hint))))
        except Exception as error:
            _LOGGER.exception("%s failed.", message["method"])
            return _make_error(INTERNAL_ERROR, f"{type(error).__name__}: {error}")


def _make_error(code: int, text: str) -> JsonMessage:
    return {"error": {"code": code, "message": text}}
