"""One request and its streamed reply, for every wire format: HTTP on one side, a translator on the other."""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec

from halocline import providers
from halocline.net.http import HttpClient, Response
from halocline.ports.model import ModelEvent, Request
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import StepRetried
from halocline.protocol.patterns import compile_later
from halocline.protocol.state.draft import Delta, join_deltas
from halocline.providers.endpoint import Endpoint
from halocline.providers.json_cache import Fragments
from halocline.providers.refused_fields import Attempt, RefusedFields
from halocline.providers.reply import ReplyReader
from halocline.providers.sse import EventParser, LineParser, SplitCharacters

T = TypeVar("T")
F = TypeVar("F")
_decoder_of: Callable[[Any], json_input.Decoder[Any]] = cache(json_input.Decoder)
"""Builds one decoder for each type."""
_ODD = compile_later(rb'\s*\{\s*"(detail|message|errors|error_\w+|msg|code|status\w*|success|object)"')
_OF_FORMATS = frozenset({"choices", "type", "candidates", "done", "usage"})
"""Fields of payloads that are of some format, and of no error."""

_ERROR_LIMIT = 65_536
_ERROR_TIME = 20.0
"""Seconds to read an error body; what has arrived by then is enough to classify it."""
_LARGEST_EVENT = 64 << 20
"""Bytes of one stream event."""
_DRAIN_GRACE = 0.5
_LAST_COUNTS = 10.0
"""Seconds that a finished reply waits for its counts."""


class ServedModel(Generic[F]):
    """A model behind a server: its connections, the encodings of what was sent, and what the server refused."""

    def __init__(self, endpoint: Endpoint, fragments: Fragments[F], client: HttpClient | None, url: str = "") -> None:
        self.name = endpoint.name
        self._endpoint = endpoint
        self._fragments = fragments
        self._client = client or HttpClient(url or endpoint.url, endpoint.network)
        self._refused = RefusedFields()

    async def _exchange(
        self,
        request: Request,
        path: str,
        body: Sequence[bytes],
        translator: ReplyReader,
        headers: Mapping[str, str] = {},
        *,
        lines: bool = False,
        whole: bool = False,
    ) -> AsyncGenerator[ModelEvent, None]:
        """Send a request and yield the reply as it comes. Leaving early closes the connection. Raises ModelError.

        It is sent again without the fields that the server refuses. The reply is a stream of events, or of `lines` of
        JSON, or where `whole` allows it one JSON document. The usage of a failed attempt is yielded before the error.
        """
        fields, begun = Attempt(self._refused, request, self._endpoint), False
        while True:
            try:
                with closing(await self._send(path, headers, fields.trim(body))) as response:
                    reply = _Reply(response, self._endpoint, translator)
                    if notice := fields.take_notice():
                        yield StepRetried(attempt=1, wait=0.0, cause=notice)
                    async with aclosing(reply.read(lines=lines, whole=whole)) as events:
                        async for event in events:
                            begun = True
                            yield event
                last = reply.finish()
            except ModelError as error:
                if spent := translator.spent():
                    yield spent
                elif not begun:
                    fields.do_without(error, body)
                    continue
                raise
            fields.succeed()
            for event in last:
                yield event
            return

    async def _send(self, path: str, headers: Mapping[str, str], body: Sequence[bytes]) -> Response:
        """Return the response of a server that accepted the request. Raises ModelError."""
        response = await self._client.post(path, await self._endpoint.request_headers(headers), body)
        try:
            await _check_status(response, self._endpoint)
        except BaseException:
            response.close()
            raise
        return response

    async def close(self) -> None:
        await self._client.close()


class _Reply:
    """A response, and its translation."""

    def __init__(self, response: Response, endpoint: Endpoint, translator: ReplyReader) -> None:
        self._response = response
        self._endpoint = endpoint
        self._translator = translator
        self._halves = SplitCharacters()
        self._odd = b""
        """The newest payload that may be an error in another form than the format's."""

    def read(self, *, lines: bool, whole: bool) -> AsyncGenerator[ModelEvent, None]:
        kind = self._response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind in ("application/json", "text/html"):
            return _read_document(self._response, self._endpoint, self._translator if whole else None)
        return self._read_stream(lines=lines)

    def finish(self) -> tuple[ModelEvent, ...]:
        """Return the last events. A reply that never was one failed for the reason that the server gave, if any."""
        try:
            return self._translator.finish()
        except ModelError as error:
            raise _find_reason(self._odd, self._endpoint) or error from None

    async def _read_stream(self, *, lines: bool) -> AsyncGenerator[ModelEvent, None]:
        response, endpoint, translator = self._response, self._endpoint, self._translator
        parser = LineParser() if lines else EventParser()
        async with aclosing(response.body() if lines else _check_beginning(response, endpoint)) as chunks:
            try:
                async for chunk in chunks:
                    for event in self._translate_all(parser.feed(chunk)):
                        yield event
                    if parser.waiting > _LARGEST_EVENT:
                        raise unreadable_payload(endpoint)
                    if translator.ended:
                        await response.drain(_DRAIN_GRACE)
                        return
                    usual = endpoint.network.stall_timeout
                    response.patience = min(_LAST_COUNTS, usual) if translator.is_finished else usual
            except ModelError:
                if not translator.is_finished:
                    raise
            for event in self._translate_all(parser.rest()):
                yield event

    def _translate_all(self, payloads: Iterable[bytes]) -> Iterator[ModelEvent]:
        """Yield the events of payloads that came together, texts that continue each other as one. Raises ModelError."""
        run = list[Delta]()
        try:
            for payload in payloads:
                for event in self._translate(self._halves.join(payload)):
                    if isinstance(event, Delta):
                        run.append(event)
                        continue
                    yield from join_deltas(run)
                    run = []
                    yield event
        except ModelError:
            yield from join_deltas(run)
            raise
        yield from join_deltas(run)

    def _translate(self, payload: bytes) -> tuple[ModelEvent, ...]:
        events = self._translator.feed(payload)
        if not events and _ODD.match(payload):
            self._odd = payload
        return events


def _find_reason(payload: bytes, endpoint: Endpoint) -> ModelError | None:
    """Return the error that a payload of another form tells of; None if it is of the format."""
    document = json_input.decode_or(None, payload)
    if document is None or document.keys() & _OF_FORMATS:
        return None
    return providers.errors.classify_in_stream(document, endpoint)


async def _read_document(
    response: Response, endpoint: Endpoint, translator: ReplyReader | None
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of a whole reply. Raise ModelError if it is none, or none is expected."""
    if translator is None:
        raise _not_a_stream(await response.read(_ERROR_LIMIT, _ERROR_TIME), endpoint)
    document = await response.read(_LARGEST_EVENT)
    events = translator.feed(document) if document.lstrip().startswith(b"{") else ()
    if not translator.ended:
        raise _not_a_stream(document[:_ERROR_LIMIT], endpoint)
    for event in events:
        yield event


async def _check_status(response: Response, endpoint: Endpoint) -> None:
    """Raise ModelError for a refusal."""
    if response.status != 200:
        body = await response.read(_ERROR_LIMIT, _ERROR_TIME)
        if response.status == 401 and endpoint.tokens:
            endpoint.tokens.drop()
        raise providers.errors.classify_refusal(response.status, body, response.headers, endpoint)


async def _check_beginning(response: Response, endpoint: Endpoint) -> AsyncGenerator[bytes, None]:
    """Pass on the body's chunks. Raise ModelError for a document, which servers may send under a stream's type."""
    document = b""
    begun = False
    async with aclosing(response.body()) as chunks:
        async for chunk in chunks:
            if begun:
                yield chunk
                continue
            document += chunk
            start = document.lstrip()[:1]
            begun = start != b"" and start not in b"{[<"
            if begun:
                yield document
            elif len(document) > _ERROR_LIMIT:
                break
    if not begun and document.strip():
        raise _not_a_stream(document, endpoint)


def _not_a_stream(body: bytes, endpoint: Endpoint) -> ModelError:
    """The error for a document in place of a stream; a repetition would bring the same one."""
    document = json_input.decode_or(None, body)
    if isinstance(document, dict) and document.get("error"):
        return providers.errors.classify_in_stream(document["error"], endpoint)
    if (error := providers.errors.classify_refusal(200, body, {}, endpoint)).kind is ModelErrorKind.BLOCKED:
        return error
    shown = providers.errors.show_body(body, endpoint)
    name = "page" if document is None else "document"
    return providers.errors.describe_failure(name, who=endpoint.vendor.title, shown=shown)


def unreadable_payload(endpoint: Endpoint, payload: bytes = b"") -> ModelError:
    """The error for a payload that does not match the wire format."""
    shown = providers.errors.show_body(payload[:_ERROR_LIMIT], endpoint)
    end = f": {shown}" if shown else "."
    return providers.errors.describe_failure("unreadable", who=endpoint.vendor.title, end=end)


def decode_payload(kind: type[T], payload: bytes, endpoint: Endpoint) -> T:
    """Decode one payload. Invalid UTF-8 becomes replacement characters. Raises ModelError."""
    try:
        found: T = _decoder_of(kind).decode(payload)
        return found
    except UnicodeDecodeError:
        return decode_payload(kind, payload.decode("utf-8", "replace").encode(), endpoint)
    except msgspec.DecodeError:
        raise unreadable_payload(endpoint, payload) from None
