"""A real HTTP server on localhost that answers like model vendors, byte for byte, from a script of turns.

    async with ModelServer([Turn(text="Hello.")]) as server:
        model = OpenAIChat(Endpoint(vendor("openai"), "any", base_url=server.url("openai")), blobs)

The n-th request gets the n-th turn, in the format of whichever vendor's API was called, including Gemini and Claude on
Vertex AI.
"""

import asyncio
import re
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from tests.servers import model_lists
from tests.servers.gemini_format import GeminiFormat
from tests.servers.listener import Listener
from tests.servers.ollama_format import OllamaFormat
from tests.servers.responses_format import ResponsesFormat
from tests.servers.sap_format import PATH as SAP_PATH, TOKEN_PATH, SapFormat, answer_access, sap_messages
from tests.servers.server_connection import ClientGone, ReceivedRequest, ServerConnection
from tests.servers.wire_formats import AnthropicFormat, OpenAIFormat, Refusal, WireFormat

from halocline.protocol.messages import Usage
from halocline.providers.scripted.script import Call, Fault, Turn

__all__ = ["Call", "Fault", "ModelServer", "ReceivedRequest", "Refusal", "Turn"]

_FORMATS: Mapping[str, WireFormat] = {
    "/v1/messages": AnthropicFormat(),
    "/v1/chat/completions": OpenAIFormat(),
    "/v1/responses": ResponsesFormat(),
    "/api/chat": OllamaFormat(),
}
_GEMINI = GeminiFormat()
_SAP = SapFormat()
_GEMINI_PATH = re.compile(r"(?:/v1beta|.*/publishers/google)/models/([^/]+):streamGenerateContent")
_CLAUDE_PATH = re.compile(r".*/publishers/anthropic/models/([^/]+):streamRawPredict")
_PREFIXES = {"anthropic": "", "gemini": "/v1beta", "ollama": "", "sap": ""}
_AFTER_TEXT = frozenset({Fault.DISCONNECT, Fault.STREAM_ERROR, Fault.STALL})
_TEXT_FIELDS = ("content", "text", "parts", "functionResponse", "response", "output", "error", "return_value")
_MESSAGES = {
    Fault.RATE_LIMIT: "Rate limit reached.",
    Fault.OVERLOADED: "Overloaded",
    Fault.SERVER: "The server had an error while processing your request.",
    Fault.AUTH: "The API key is not valid.",
    Fault.CONTEXT_EXCEEDED: "prompt is too long: 250000 tokens exceed this model's maximum context length.",
}


class ModelServer(Listener):
    """Serves `turns` and lists `models` (None: no list). With a `key`, requests with another key are refused.

    `write_size` splits everything that is sent into writes of so many bytes; 0 does not split.

    Requests with more tokens (of four bytes) than `window` are refused in the vendor's own words, or without
    `says_why` as an ordinary bad request; so are those for which `refuses` gives words, or a whole response.

    `tls` makes it an https server; for `url` to work, its certificate must be for `localhost`.

    `thinks` gives the turn that answers a request, instead of `turns`.

    `requests` are the requests to models, `questions` those about the server itself; `disconnects` counts clients that
    left before their response was complete.
    """

    def __init__(
        self,
        turns: Sequence[Turn] = (),
        *,
        port: int = 0,
        write_size: int = 0,
        tls: ssl.SSLContext | None = None,
        key: str = "",
        models: Sequence[str] | None = ("scripted",),
        window: int | None = None,
        says_why: bool = True,
        refuses: Callable[[ReceivedRequest], Refusal | str | None] = lambda request: None,
        thinks: Callable[[ReceivedRequest], Turn] | None = None,
    ) -> None:
        super().__init__(self._answer_all, port=port, tls=tls)
        self.requests: list[ReceivedRequest] = []
        self.questions: list[ReceivedRequest] = []
        self.disconnects = 0
        self.connections = 0
        self._turns = list(turns)
        self._answered = 0
        self._write_size = write_size
        self._key = key
        self._models = models
        self._window = window
        self._says_why = says_why
        self._refuses = refuses
        self._thinks = thinks

    def url(self, vendor: str) -> str:
        """The base URL for a vendor's clients: "anthropic", "gemini", "ollama", "sap", or else OpenAI's."""
        root = f"https://localhost:{self.port}" if self._tls else f"http://127.0.0.1:{self.port}"
        return root + _PREFIXES.get(vendor, "/v1")

    async def disconnected(self, count: int = 1) -> None:
        """Wait until `count` clients left before their response was complete."""
        await self._wait_for(lambda: self.disconnects >= count)

    async def received(self, count: int = 1) -> None:
        """Wait until `count` requests have arrived."""
        await self._wait_for(lambda: len(self.requests) >= count)

    async def _answer_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        connection = ServerConnection(reader, writer, self.connections, self._write_size)
        try:
            while (request := await connection.request()) is not None:
                await self._note(request)
                await self._answer(request, connection)
        except (ClientGone, ConnectionError):
            async with self._changed:
                self.disconnects += 1
                self._changed.notify_all()
        finally:
            writer.close()

    async def _note(self, request: ReceivedRequest) -> None:
        async with self._changed:
            (self.questions if _is_question(request) else self.requests).append(request)
            self._changed.notify_all()

    async def _answer(self, request: ReceivedRequest, connection: ServerConnection) -> None:
        wire = _find_format(request)
        if self._key and _sent_key(request) != self._key:
            return await connection.refuse(_vendor_format(request).refusal(Fault.AUTH, _MESSAGES[Fault.AUTH]))
        if access := answer_access(request, self.url("sap")):
            return await connection.send_document(*access)
        if self._models is not None and (listed := model_lists.answer_model_list(request, self._models)):
            return await connection.send_document(*listed)
        if wire is None or request.method != "POST":
            return await connection.send_document(404, {"error": {"type": "not_found_error", "message": request.path}})
        if refusal := self._refuses(request):
            return await connection.refuse(wire.refusal(None, refusal) if isinstance(refusal, str) else refusal)
        size = len(request.raw) // 4
        if self._window is not None and size > self._window:
            if not self._says_why:
                return await connection.refuse(wire.refusal(None, "Bad Request"))
            words = wire.too_long.format(size=size, window=self._window)
            return await connection.refuse(wire.refusal(Fault.CONTEXT_EXCEEDED, words))
        if self._thinks is None and self._answered == len(self._turns):
            count = len(self._turns)
            return await connection.refuse(wire.refusal(None, f"The script has no more turns: it has {count}."))
        turn = self._thinks(request) if self._thinks else self._turns[self._answered]
        if self._window is not None and turn.usage is None:
            turn = replace(turn, usage=Usage(input=size, output=len(turn.text) // 4))
        self._answered += 1
        return await self._play(turn, wire, request, connection)

    async def _play(self, turn: Turn, wire: WireFormat, request: ReceivedRequest, connection: ServerConnection) -> None:
        if problem := turn.unmet(_newest_text(request.body)):
            return await connection.refuse(wire.refusal(None, f"Turn {self._answered}: {problem}"))
        await connection.pause(turn.delay)
        if turn.fault is not None and turn.fault not in _AFTER_TEXT:
            return await connection.refuse(wire.refusal(turn.fault, _MESSAGES[turn.fault]), turn.retry_after)
        await connection.send_head(200, {"content-type": wire.content_type})
        for piece in wire.stream(turn, _asked_model(request), self._answered):
            if piece.is_delta:
                await connection.pause(turn.pace)
            await connection.send(piece.data)
        match turn.fault:
            case Fault.DISCONNECT:
                return connection.break_off()
            case Fault.STREAM_ERROR:
                await connection.send(wire.stream_error())
            case Fault.STALL:
                await connection.pause(turn.retry_after)
                return connection.break_off()
        return await connection.end()


def _is_question(request: ReceivedRequest) -> bool:
    """True for a request about the server: its models, or their capabilities."""
    if request.path == TOKEN_PATH:
        return True
    return request.method == "GET" or (request.path.startswith("/api/") and request.path not in _FORMATS)


def _find_format(request: ReceivedRequest) -> WireFormat | None:
    path = request.path.partition("?")[0]
    if _CLAUDE_PATH.fullmatch(path):
        return _FORMATS["/v1/messages"]
    if SAP_PATH.fullmatch(path):
        return _SAP
    return _GEMINI if _GEMINI_PATH.fullmatch(path) else _FORMATS.get(path)


def _vendor_format(request: ReceivedRequest) -> WireFormat:
    """The wire format of the vendor whose API the request uses."""
    if request.path.startswith(_PREFIXES["gemini"]):
        return _GEMINI
    if "anthropic-version" in request.headers:
        return _FORMATS["/v1/messages"]
    return _FORMATS.get(request.path, _FORMATS["/v1/chat/completions"])


def _sent_key(request: ReceivedRequest) -> str:
    """The API key in the request, in any vendor's header."""
    headers = request.headers
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer


def _asked_model(request: ReceivedRequest) -> str:
    """The requested model; for Gemini and on Vertex AI, it is in the URL."""
    named = _GEMINI_PATH.match(request.path) or _CLAUDE_PATH.match(request.path)
    if SAP_PATH.fullmatch(request.path):
        return str(request.body["config"]["modules"]["prompt_templating"]["model"]["name"])
    return named[1] if named else request.body.get("model", "")


def _newest_text(body: Any) -> str:
    """All text in the body's messages after the last reply. The input of Responses may be one plain text."""
    fields = ("messages", "contents", "input")
    messages: Any = next((body[name] for name in fields if body.get(name)), []) if isinstance(body, dict) else []
    messages = messages or sap_messages(body)
    if isinstance(messages, str):
        return messages
    replies = [index for index, message in enumerate(messages) if _is_reply(message)]
    return "\n".join(_list_texts(messages[replies[-1] + 1 if replies else 0 :]))


def _is_reply(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("assistant", "model") or message.get("type") in ("function_call", "reasoning")


def _list_texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _list_texts(item)
        case dict():
            for name in _TEXT_FIELDS:
                yield from _list_texts(value.get(name))
