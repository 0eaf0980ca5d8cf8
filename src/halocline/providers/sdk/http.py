"""One vendor's model through the library: a request, and the reply as it comes.

Importing this takes a second or more, so `model` does it in a thread on the first request.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import httpx2
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelResponse, ModelResponseStreamEvent
from pydantic_ai.settings import ModelSettings, ThinkingLevel, merge_model_settings

from halocline.net.http import HttpClient, Response
from halocline.net.network import Network
from halocline.ports.blobs import Blobs
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.messages import Effort
from halocline.providers.endpoint import Endpoint
from halocline.providers.sdk.errors import not_made, translate_error
from halocline.providers.sdk.messages import request_parameters, to_library
from halocline.providers.sdk.stream import FromLibrary
from halocline.providers.sdk.vendors import MAKERS
from halocline.providers.thinking import fit_thinking
from halocline.providers.thinking_table import Takes

_LEVELS: dict[Effort, ThinkingLevel] = {
    Effort.NONE: False,
    Effort.MINIMAL: "minimal",
    Effort.LOW: "low",
    Effort.MEDIUM: "medium",
    Effort.HIGH: "high",
    Effort.XHIGH: "xhigh",
    Effort.MAX: "max",
}
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "proxy-authorization"})


class NetworkTransport(httpx2.AsyncBaseTransport):
    """Sends requests to any server over `network`."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._clients: dict[str, HttpClient] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        origin = f"{request.url.scheme}://{request.url.netloc.decode('ascii')}"
        if origin not in self._clients:
            self._clients[origin] = HttpClient(origin, self._network)
        client = self._clients[origin]
        headers = {name: value for name, value in request.headers.items() if name not in _OURS}
        path = request.url.raw_path.decode("ascii")
        if request.method == "GET":
            response = await client.get(path, headers)
        else:
            response = await client.post(path, headers, (await request.aread(),))
        return httpx2.Response(response.status, headers=response.headers, stream=_Body(response))

    async def aclose(self) -> None:
        for client in self._clients.values():
            await client.close()


class _Body(httpx2.AsyncByteStream):
    """A response body. Leaving it early closes the connection, so that the server stops."""

    def __init__(self, response: Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(self._response.body()) as body:
            async for chunk in body:
                yield chunk

    async def aclose(self) -> None:
        self._response.close()


class LibraryExchange:
    """Sends requests to one endpoint."""

    def __init__(self, endpoint: Endpoint, blobs: Blobs) -> None:
        """Raise ModelError when the vendor's SDK rejects its settings."""
        self._endpoint = endpoint
        self._blobs = blobs
        # Our transport bounds the waits, so httpx2 needs no timeout of its own.
        self._http = httpx2.AsyncClient(transport=NetworkTransport(endpoint.network), timeout=None, trust_env=False)
        try:
            self._made = MAKERS[endpoint.vendor.name](endpoint, self._http)
        except Exception as error:
            raise not_made(error, endpoint) from error

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        translator = FromLibrary(request, self._endpoint)
        async with aclosing(self._events(request)) as events:
            async for event in events:
                if isinstance(event, ModelResponse):
                    ours = translator.end(event)
                else:
                    ours = translator.translate(event)
                for each in ours:
                    yield each

    async def close(self) -> None:
        await self._http.aclose()

    async def _events(self, request: Request) -> AsyncGenerator[ModelResponseStreamEvent | ModelResponse, None]:
        """Yield the library's events, then its whole response. Translates whatever it raises."""
        messages = to_library(request.messages, self._endpoint.vendor.name, self._blobs)
        try:
            async with model_request_stream(
                self._made.model,
                messages,
                model_settings=merge_model_settings(self._made.settings, _model_settings(request)),
                model_request_parameters=request_parameters(request),
            ) as stream:
                async for event in stream:
                    yield event
                yield stream.get()
        except Exception as error:
            raise translate_error(error, self._endpoint) from error


def _model_settings(request: Request) -> ModelSettings:
    """Build settings for reply length and thinking; the library knows what each model supports."""
    settings: ModelSettings = {"max_tokens": request.max_tokens} if request.max_tokens else {}
    if request.wishes_thinking and (effort := fit_thinking(request, Takes(tuple(Effort))).effort):
        settings |= {"thinking": _LEVELS[effort]}
    return settings
