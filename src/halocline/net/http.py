"""A small HTTP/1.1 client for streamed replies: httptools on asyncio streams.

One connection is kept alive from request to request. A body that is left early closes its socket at once, so that the
server stops generating. Every failure is a `ModelError` that names the host.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any
from urllib.parse import urlsplit

import msgspec

from halocline.net.address import address_of
from halocline.net.connection import Answer, Connection, ConnectionLost, ProtocolError
from halocline.net.dialing import Dialer
from halocline.net.network import DIRECT, Network
from halocline.net.request_head import request_head
from halocline.protocol import json_input
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError

Headers = Mapping[str, str]


class Response:
    """The head of an answer, and its body as it comes. Header names are in lower case."""

    def __init__(self, answer: Answer, connection: Connection, client: "HttpClient") -> None:
        self.status = answer.status
        self.headers = answer.headers
        self._connection = connection
        self._client = client
        self._closed = False

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The body in the pieces in which it arrives.

        Raises:
            ModelError: the connection broke (network) or was silent for too long (stalled).
        """
        client, patience = self._client, self._client.network.first_byte_timeout
        try:
            while chunk := await self._connection.chunk(patience):
                yield chunk
                patience = client.network.stall_timeout
        except TimeoutError:
            raise _stalled_error(client.host, patience) from None
        except (ProtocolError, OSError) as error:
            raise _broken_error(client.host, error) from error
        finally:
            self.close()

    async def read(self, limit: int, within: float | None = None) -> bytes:
        """At most about `limit` bytes of the body; the rest is not waited for. Raises ModelError as `body` does.

        What came `within` so many seconds is enough.
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
        """Pass over what is left of a body whose content is complete, so that the connection can be used again.

        A server that does not end the body within `grace` seconds loses the connection instead.
        """
        with suppress(TimeoutError, ProtocolError, OSError):
            async with asyncio.timeout(grace):
                while await self._connection.chunk(grace):
                    pass

    def close(self) -> None:
        """Give the connection back when the body has come to its end, else close the socket at once."""
        if not self._closed:
            self._closed = True
            self._client.give_back(self._connection)


class HttpClient:
    """Requests to one server, over the network as `network` says."""

    def __init__(self, base_url: str, network: Network = DIRECT) -> None:
        """Raises UsageError when `base_url` is no http or https address."""
        target = address_of(base_url)
        if target is None:
            shown = base_url.rpartition("@")[2]
            raise UsageError(f"The base URL {shown!r} is no http or https address.", "Write it as https://host/path.")
        url = urlsplit(base_url)
        self.host = url.netloc.rpartition("@")[2]
        self.network = network
        # A proxy opens a tunnel to a TLS server, and reads the requests to any other: those name the whole URL.
        self._proxy = None if target.tls else network.proxy
        self._prefix = (f"http://{self.host}" if self._proxy else "") + url.path.rstrip("/")
        self._dialer = Dialer(target, self.host, network)
        self._idle: Connection | None = None

    async def post(self, path: str, headers: Headers, body_parts: Sequence[bytes]) -> Response:
        """Send the parts as one body, and wait for the head of the answer, whatever its status. Raises ModelError."""
        return await self._request("POST", path, headers, body_parts)

    async def get(self, path: str, headers: Headers) -> Response:
        """Raises ModelError when there is no answer."""
        return await self._request("GET", path, headers, ())

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.abort()
            self._idle = None

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next request, when it can carry one."""
        if self._idle is None and connection.ready_again():
            self._idle = connection
        else:
            connection.abort()

    async def _request(self, method: str, path: str, headers: Headers, parts: Sequence[bytes]) -> Response:
        fields = {"host": self.host, **headers, "content-length": str(sum(map(len, parts)))}
        if self._proxy and self._proxy.authorization:
            fields["proxy-authorization"] = self._proxy.authorization
        head = self._head(method, path, fields)
        kept, self._idle = self._idle, None
        if kept is not None and await self._can_carry(kept):
            # The server may have closed it meanwhile; then nothing was answered and it is safe to ask again.
            with suppress(ConnectionLost):
                return await self._ask(kept, head, parts)
        try:
            return await self._ask(await self._dialer.open(), head, parts)
        except ConnectionLost as error:
            raise _broken_error(self.host, error) from error

    async def _can_carry(self, kept: Connection) -> bool:
        quiet = False
        try:
            quiet = await kept.quiet()
        finally:
            if not quiet:
                kept.abort()
        return quiet

    def _head(self, method: str, path: str, fields: Headers) -> bytes:
        try:
            return request_head(method, self._prefix + path, fields)
        except ValueError:
            # The cause would show the header's value, which may be the key.
            text = f"The request to {self.host} holds characters that HTTP cannot carry."
            raise ModelError(ModelErrorKind.INVALID_REQUEST, text, "Check the base URL and the key.") from None

    async def _ask(self, connection: Connection, head: bytes, parts: Sequence[bytes]) -> Response:
        answered = False
        try:
            async with asyncio.timeout(self.network.first_byte_timeout):
                answer = await connection.ask(head, parts)
            self._check_proxy(answer.status)
            answered = True
            return Response(answer, connection, self)
        except TimeoutError:
            raise _stalled_error(self.host, self.network.first_byte_timeout) from None
        except (ProtocolError, OSError) as error:
            raise _broken_error(self.host, error) from error
        finally:
            if not answered:
                connection.abort()

    def _check_proxy(self, status: int) -> None:
        """Raises ModelError when the answer is not the server's: only a proxy asks for a proxy's password."""
        if self._proxy is not None and status == 407:
            from halocline.net.network_failures import proxy_refused

            raise proxy_refused(self._proxy.name, self.host, status)


async def fetch_json(
    url: str, timeout: float, network: Network = DIRECT, headers: Headers | None = None, body: bytes = b""
) -> Any:
    """Fetch a small JSON document, all within `timeout` seconds; with a body, by POST.

    Raises:
        ModelError: nothing answered in time, or not with a JSON document.
    """
    address = urlsplit(url)
    client = HttpClient(f"{address.scheme}://{address.netloc}", network)
    path = (address.path or "/") + (f"?{address.query}" if address.query else "")
    fields = {**(headers or {}), "accept": "application/json"}
    try:
        async with asyncio.timeout(timeout):
            response = await (client.post(path, fields, (body,)) if body else client.get(path, fields))
            answer = await response.read(4_000_000)
        if response.status != 200:
            raise msgspec.DecodeError(f"status {response.status}")
        return json_input.decode(answer)
    except TimeoutError:
        raise _stalled_error(client.host, timeout) from None
    except msgspec.DecodeError as error:
        text = f"{client.host} did not answer with a JSON document ({error})."
        raise ModelError(ModelErrorKind.MALFORMED, text, "Check the address.") from error
    finally:
        await client.close()


# What failures mean is only read up when there is one.
def _stalled_error(host: str, seconds: float) -> ModelError:
    from halocline.net.network_failures import stalled_error

    return stalled_error(host, seconds)


def _broken_error(host: str, error: BaseException) -> ModelError:
    from halocline.net.network_failures import broken_error

    return broken_error(host, error)
