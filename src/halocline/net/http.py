"""A small HTTP/1.1 client for streamed responses: httptools on asyncio streams.

One connection is kept alive between requests. Leaving a body early closes its socket at once, so that the server stops
generating. Every failure is a `ModelError` that names the host.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from halocline import net
from halocline.net.address import address_of
from halocline.net.connection import Answer, Connection, ConnectionLost, ProtocolError
from halocline.net.dialing import Dialer
from halocline.net.network import DIRECT, Network
from halocline.net.request_head import request_head
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError

Headers = Mapping[str, str]
MOST = 4_000_000
"""Bytes of a document that is fetched whole."""


class Response:
    """The head of a response, and its body as it arrives. Header names are lower case.

    `patience` is the longest silence in its body, in seconds, after the first byte.
    """

    def __init__(self, answer: Answer, connection: Connection, client: "HttpClient") -> None:
        self.status = answer.status
        self.headers = answer.headers
        self.patience = client.network.stall_timeout
        self._connection = connection
        self._client = client
        self._closed = False

    async def body(self) -> AsyncGenerator[bytes, None]:
        """Yield the body in pieces as they arrive, decoded if it is compressed.

        Raises:
            ModelError: the connection broke (network) or was silent for too long (stalled).
        """
        client, patience = self._client, self._client.network.first_byte_timeout
        inflater = net.inflating.Inflater(self.headers.get("content-encoding", ""))
        try:
            while chunk := await self._connection.chunk(patience):
                for piece in inflater.feed(chunk):
                    yield piece
                patience = self.patience
            if rest := inflater.rest():
                yield rest
        except TimeoutError:
            raise net.network_failures.stalled_error(client.host, patience) from None
        except (ProtocolError, OSError) as error:
            raise net.network_failures.broken_error(client.host, error) from error
        finally:
            self.close()

    async def read(self, limit: int, within: float | None = None) -> bytes:
        """Return about the first `limit` bytes of the body. Raises ModelError like `body`.

        With `within`, return what arrived in so many seconds.
        """
        parts: list[bytes] = []
        clock = asyncio.timeout(within)
        try:
            async with clock, aclosing(self.body()) as body:
                async for chunk in body:
                    parts.append(chunk)
                    if sum(map(len, parts)) >= limit:
                        break
        except TimeoutError:
            if not clock.expired():
                raise
        return b"".join(parts)

    async def drain(self, grace: float) -> None:
        """Skip the rest of a body whose content is complete, so that the connection can be reused.

        If the server does not end the body within `grace` seconds, the connection is closed instead.
        """
        with suppress(TimeoutError, ProtocolError, OSError):
            async with asyncio.timeout(grace):
                while await self._connection.chunk(grace):
                    pass

    def close(self) -> None:
        """Give the connection back if the body has ended, else close the socket at once."""
        if not self._closed:
            self._closed = True
            self._client.give_back(self._connection)


class HttpClient:
    """A client for one server, with the network options in `network`."""

    def __init__(self, base_url: str, network: Network = DIRECT) -> None:
        """Raise UsageError if `base_url` is not an http or https address."""
        target = address_of(base_url)
        if target is None:
            shown = base_url.rpartition("@")[2]
            raise UsageError(
                f"The base URL {shown!r} is not an http or https address.", "Write it as https://host/path."
            )
        url = urlsplit(base_url)
        self.host = url.netloc.rpartition("@")[2]
        self.network = network
        # A proxy opens a tunnel to a TLS server and reads the requests to any other, which must name the whole URL.
        self._proxy = None if target.tls else network.proxy
        self._prefix = (f"http://{self.host}" if self._proxy else "") + url.path.rstrip("/")
        self._dialer = Dialer(target, self.host, network)
        self._idle: Connection | None = None

    async def post(self, path: str, headers: Headers, body_parts: Sequence[bytes]) -> Response:
        """Send the parts as one body and wait for the head of the response, whatever its status. Raises ModelError."""
        return await self._request("POST", path, headers, body_parts)

    async def get(self, path: str, headers: Headers) -> Response:
        """Send a request and wait for the head of the response, whatever its status. Raises ModelError."""
        return await self._request("GET", path, headers, ())

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.abort()
            self._idle = None

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next request if it can carry one."""
        if self._idle is None and connection.ready_again():
            self._idle = connection
        else:
            connection.abort()

    async def _request(self, method: str, path: str, headers: Headers, parts: Sequence[bytes]) -> Response:
        fields = {
            "host": self.host,
            "accept-encoding": "identity",
            **headers,
            "content-length": str(sum(map(len, parts))),
        }
        if self._proxy and self._proxy.authorization:
            fields["proxy-authorization"] = self._proxy.authorization
        head = self._head(method, path, fields)
        kept, self._idle = self._idle, None
        if kept is not None and self._can_carry(kept):
            # The server may have closed it since; then there was no response and it is safe to retry.
            with suppress(ConnectionLost):
                return await self._ask(kept, head, parts)
        try:
            return await self._ask(await self._dialer.open(), head, parts)
        except ConnectionLost as error:
            raise net.network_failures.broken_error(self.host, error) from error

    def _can_carry(self, kept: Connection) -> bool:
        if not kept.is_quiet:
            kept.abort()
            return False
        return True

    def _head(self, method: str, path: str, fields: Headers) -> bytes:
        try:
            return request_head(method, self._prefix + path, fields)
        except ValueError:
            # The cause would show the header's value, which may be the key.
            text = f"The request to {self.host} contains characters that HTTP does not allow."
            raise ModelError(ModelErrorKind.INVALID_REQUEST, text, "Check the base URL and the key.") from None

    async def _ask(self, connection: Connection, head: bytes, parts: Sequence[bytes]) -> Response:
        answered = False
        try:
            async with asyncio.timeout(self.network.first_byte_timeout):
                answer = await connection.ask(head, parts, self.network.on_sent)
            self._check_proxy(answer.status)
            answered = True
            return Response(answer, connection, self)
        except TimeoutError:
            raise net.network_failures.stalled_error(self.host, self.network.first_byte_timeout) from None
        except (ProtocolError, OSError) as error:
            raise net.network_failures.broken_error(self.host, error) from error
        finally:
            if not answered:
                connection.abort()

    def _check_proxy(self, status: int) -> None:
        """Raise ModelError if the proxy, not the server, answered: only a proxy asks for a proxy's password."""
        if self._proxy is not None and status == 407:
            raise net.network_failures.proxy_refused(self._proxy.name, self.host, status)


class Fetched(NamedTuple):
    """A whole response. Header names are lower case."""

    status: int
    headers: Headers
    body: bytes


async def fetch(
    url: str, network: Network = DIRECT, headers: Headers | None = None, body: bytes | None = None, *, most: int = MOST
) -> Fetched:
    """Send one request over a connection of its own, and read about `most` bytes of the answer; with a body, by POST.

    Raises:
        ModelError: the server could not be reached, or broke off.
        UsageError: the URL is not an http or https address.
    """
    address = urlsplit(url)
    client = HttpClient(f"{address.scheme}://{address.netloc}", network)
    path = (address.path or "/") + (f"?{address.query}" if address.query else "")
    fields = headers or {}
    try:
        response = await (client.get(path, fields) if body is None else client.post(path, fields, (body,)))
        return Fetched(response.status, response.headers, await response.read(most))
    finally:
        await client.close()


async def fetch_json(
    url: str, timeout: float, network: Network = DIRECT, headers: Headers | None = None, body: bytes | None = None
) -> Any:
    """Fetch a small JSON document within `timeout` seconds; with a body, by POST.

    Raises:
        ModelError: there was no answer in time, or it was not JSON.
    """
    host = urlsplit(url).netloc.rpartition("@")[2]
    try:
        async with asyncio.timeout(timeout):
            answer = await fetch(url, network, {**(headers or {}), "accept": "application/json"}, body)
        if answer.status != 200:
            raise msgspec.DecodeError(f"status {answer.status}")
        return json_input.decode(answer.body)
    except TimeoutError:
        raise net.network_failures.stalled_error(host, timeout) from None
    except msgspec.DecodeError as error:
        text = f"{host} did not answer with JSON ({error})."
        raise ModelError(ModelErrorKind.MALFORMED, text, "Check the address.") from error
