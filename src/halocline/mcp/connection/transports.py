"""Transports to a server: pipes to a program, streamable HTTP and SSE, as the SDK's pairs of streams."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INTERNAL_ERROR, JSONRPCResponse

from halocline.mcp.connection.errors import describe_status
from halocline.mcp.connection.lifetime import Lifetime
from halocline.mcp.connection.mending import mend_result
from halocline.mcp.connection.pipes import Pipes
from halocline.mcp.connection.server_log import ServerLog
from halocline.mcp.connection.setup import NO_PROGRAM, Hopeless, Setup
from halocline.mcp.connection.sign_in import SignIn
from halocline.mcp.variables import Filled, server_environment
from halocline.net.dialing import tls_context
from halocline.net.network import Network
from halocline.ports.mcp_servers import Server

_CONNECT, _SILENCE, _PROBE = 30.0, 300.0, 5.0
_END_PATIENCE = 1.0


async def open_http(
    stack: AsyncExitStack, server: Server, filled: Filled, setup: Setup, auth: SignIn | None
) -> AbstractAsyncContextManager[TransportStreams]:
    """Build the HTTP transport that the settings ask for; the stack cleans up. Lets the SDK's exceptions through."""
    headers = {name: value.reveal() for name, value in filled.headers.items()}
    if server.transport == "sse" or (not server.transport and not await _speaks_http(filled.url, headers, auth, setup)):
        make = partial(_build_client, setup.network(filled.url))
        day = 86_400.0
        return sse_client(filled.url, headers, _CONNECT, sse_read_timeout=day, auth=auth, httpx_client_factory=make)
    times = httpx2.Timeout(_CONNECT, read=_SILENCE)
    http = _build_client(setup.network(filled.url), headers, times, auth, _ExplainingClient)
    await stack.enter_async_context(http)
    return streamable_http_client(filled.url, http_client=http)


def build_sign_in(server: Server, filled: Filled, setup: Setup) -> SignIn | None:
    """Return the OAuth sign-in; None where a header already authenticates us."""
    if setup.secrets is None or "authorization" in map(str.lower, filled.headers):
        return None
    return SignIn(server.name, filled.url, filled.oauth, setup.secrets, setup.visitor)


async def open_pipes(
    stack: AsyncExitStack, filled: Filled, setup: Setup, log: ServerLog, lifetime: Lifetime
) -> AbstractAsyncContextManager[TransportStreams]:
    """Start the server's program and build the transport over its pipes; the stack ends it."""
    if (found := setup.find_program(filled)) is None:
        raise Hopeless(NO_PROGRAM.format(command=filled.command))
    env, words = server_environment(filled.env, setup.env, setup.passed), (found, *filled.args)
    program = await setup.programs.start(words, env, setup.folder_of(filled))
    # A server that answered gets a moment to exit by itself.
    stack.push_async_callback(lambda: program.end(_END_PATIENCE if lifetime.answered else 0.0))
    pipes = Pipes(program, log, lifetime.end)
    program.exited.add_done_callback(lambda exited: lifetime.end(f"it exited with code {exited.result()}"))
    return pipes.streams()


def _build_client(
    network: Network,
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
    kind: type[httpx2.AsyncClient] = httpx2.AsyncClient,
) -> httpx2.AsyncClient:
    """Build a client with the configured proxy and certificates."""
    proxy = None
    if network.proxy is not None:
        proxy_headers = {"Proxy-Authorization": network.proxy.authorization} if network.proxy.authorization else None
        at = network.proxy.address
        proxy = httpx2.Proxy(f"{'https' if at.tls else 'http'}://{at.authority}", headers=proxy_headers)
    return kind(
        headers=headers, timeout=timeout, auth=auth, verify=tls_context(network.ca_files), proxy=proxy, trust_env=False
    )


class _ExplainingClient(httpx2.AsyncClient):
    """Makes a JSON-RPC error of an HTTP error without one, for which the SDK has the same words whatever it was."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        answer = await super().send(request, **options)
        is_explained = _is_json(answer) or answer.status_code == 404  # the SDK reads 404 as a session's end
        if request.method != "POST" or not answer.is_error or is_explained:
            return answer
        await answer.aread()
        is_plain = answer.headers.get("content-type", "text/plain").lower().startswith("text/plain")
        words = describe_status(answer.status_code, answer.text if is_plain else "")
        told = {"jsonrpc": "2.0", "id": None, "error": {"code": INTERNAL_ERROR, "message": words}}
        return httpx2.Response(answer.status_code, json=told, request=request)


def _is_json(answer: httpx2.Response) -> bool:
    return answer.headers.get("content-type", "").lower().startswith("application/json")


async def _speaks_http(url: str, headers: dict[str, str], auth: Any, setup: Setup) -> bool:
    """Return True if a server of unknown type speaks streamable HTTP.

    An SSE server answers a POST with 400, 404 or 405, but a streamable one may want a session, also with 400.
    """
    async with _build_client(setup.network(url), headers, httpx2.Timeout(_CONNECT), auth) as http:
        ask = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
        accept = {"accept": "application/json, text/event-stream"}
        async with http.stream("POST", url, json=ask, headers=accept) as answer:
            if answer.status_code != 400 or _is_json(answer):
                return answer.status_code not in (404, 405) or _is_json(answer)
        with suppress(httpx2.TimeoutException):
            async with http.stream("GET", url, headers={"accept": "text/event-stream"}, timeout=_PROBE) as events:
                kind = events.headers.get("content-type", "").lower()
                return not (events.is_success and kind.startswith("text/event-stream"))
    return True


@asynccontextmanager
async def watch_streams(
    transport: AbstractAsyncContextManager[TransportStreams], lifetime: Lifetime, left_out: Callable[[str], None]
) -> AsyncGenerator[TransportStreams, None]:
    """Pass the streams through, with results mended; when the server's stream ends, `lifetime.gone` is set."""
    to_us, ours = anyio.create_memory_object_stream[Any](0)
    async with transport as (theirs, sending), anyio.create_task_group() as group:

        async def pass_on() -> None:
            async with to_us:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    async for message in theirs:
                        if isinstance(answer := getattr(message, "message", None), JSONRPCResponse):
                            answer.result = mend_result(answer.result, left_out)
                        await to_us.send(message)
            lifetime.end()

        group.start_soon(pass_on)
        try:
            yield ours, sending
        finally:
            group.cancel_scope.cancel()
            ours.close()
            to_us.close()
