"""A small HTTP/1.1 client for streamed replies: h11 on asyncio streams.

One connection is kept alive from request to request. A body that is left early closes its socket at once, so that the
server stops generating. Every failure is a `ModelError` that names the host.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import h11
import msgspec

from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError
from halocline.providers.connection import Connection, ConnectionLost, network_error, stalled

if TYPE_CHECKING:
    import ssl

Headers = Mapping[str, str]


class Response:
    """The head of an answer, and its body as it comes. Header names are in lower case."""

    def __init__(self, head: h11.Response, connection: Connection, client: "HttpClient") -> None:
        self.status = head.status_code
        self.headers = {name.decode("ascii"): value.decode("latin-1") for name, value in head.headers}
        self._connection = connection
        self._client = client
        self._closed = False

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The body in the pieces in which it arrives.

        Raises:
            ModelError: the connection broke (network) or was silent for too long (stalled).
        """
        client = self._client
        try:
            while chunk := await self._connection.chunk(client.stall_timeout):
                yield chunk
        except TimeoutError:
            raise stalled(client.host, client.stall_timeout) from None
        except (h11.RemoteProtocolError, OSError) as error:
            raise network_error(client.host, error) from error
        finally:
            self.close()

    async def read(self, limit: int) -> bytes:
        """At most about `limit` bytes of the body; the rest is not waited for. Raises ModelError as `body` does."""
        parts: list[bytes] = []
        async with aclosing(self.body()) as body:
            async for chunk in body:
                parts.append(chunk)
                if sum(map(len, parts)) >= limit:
                    break
        return b"".join(parts)

    async def drain(self, grace: float) -> None:
        """Pass over what is left of a body whose content is complete, so that the connection can be used again.

        A server that does not end the body within `grace` seconds loses the connection instead.
        """
        with suppress(TimeoutError, h11.RemoteProtocolError, OSError):
            async with asyncio.timeout(grace):
                while await self._connection.chunk(grace):
                    pass

    def close(self) -> None:
        """Give the connection back when the body was read to its end, else close the socket at once."""
        if not self._closed:
            self._closed = True
            self._client.give_back(self._connection)


class HttpClient:
    """Requests to one server. Times are in seconds; `first_byte_timeout` covers sending and waiting for the head."""

    def __init__(
        self,
        base_url: str,
        *,
        connect_timeout: float = 10.0,
        first_byte_timeout: float = 300.0,
        stall_timeout: float = 120.0,
    ) -> None:
        """Raises UsageError when `base_url` is no http or https address."""
        url = urlsplit(base_url)
        self._port = _port(base_url)
        self._hostname = url.hostname or ""
        self._tls = url.scheme == "https"
        self._prefix = url.path.rstrip("/")
        self.host = url.netloc.rpartition("@")[2]
        self.connect_timeout = connect_timeout
        self.first_byte_timeout = first_byte_timeout
        self.stall_timeout = stall_timeout
        self._idle: Connection | None = None
        self._context: ssl.SSLContext | None = None

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
        request = self._head(method, path, fields)
        kept, self._idle = self._idle, None
        if kept is not None and kept.usable:
            # The server may have closed it meanwhile; then nothing was answered and it is safe to ask again.
            with suppress(ConnectionLost):
                return await self._ask(kept, request, parts)
        try:
            return await self._ask(await self._connect(), request, parts)
        except ConnectionLost as error:
            raise network_error(self.host, error) from error

    def _head(self, method: str, path: str, fields: Headers) -> h11.Request:
        try:
            return h11.Request(method=method, target=self._prefix + path, headers=list(fields.items()))
        except (h11.LocalProtocolError, UnicodeError):
            # The cause would show the header's value, which may be the key.
            text = f"The request to {self.host} holds characters that HTTP cannot carry."
            raise ModelError(ModelErrorKind.INVALID_REQUEST, text, "Check the base URL and the key.") from None

    async def _ask(self, connection: Connection, request: h11.Request, parts: Sequence[bytes]) -> Response:
        answered = False
        try:
            async with asyncio.timeout(self.first_byte_timeout):
                head = await connection.ask(request, parts)
            answered = True
            return Response(head, connection, self)
        except TimeoutError:
            raise stalled(self.host, self.first_byte_timeout) from None
        except (h11.RemoteProtocolError, OSError) as error:
            raise network_error(self.host, error) from error
        finally:
            if not answered:
                connection.abort()

    async def _connect(self) -> Connection:
        try:
            async with asyncio.timeout(self.connect_timeout):
                streams = await asyncio.open_connection(self._hostname, self._port, ssl=self._tls_context())
        except TimeoutError:
            text = f"{self.host} did not take the connection within {self.connect_timeout:g} s."
            raise ModelError(ModelErrorKind.NETWORK, text, "Check the network connection and the base URL.") from None
        except (OSError, UnicodeError) as error:
            raise network_error(self.host, error) from error
        return Connection(*streams)

    def _tls_context(self) -> "ssl.SSLContext | None":
        if self._tls and self._context is None:
            import ssl

            self._context = ssl.create_default_context()
        return self._context


async def get_json(url: str, timeout: float) -> Any:
    """Fetch a small JSON document, all within `timeout` seconds; for finding local servers.

    Raises:
        ModelError: nothing answered in time, or not with a JSON document.
    """
    address = urlsplit(url)
    client = HttpClient(f"{address.scheme}://{address.netloc}", connect_timeout=timeout, stall_timeout=timeout)
    try:
        async with asyncio.timeout(timeout):
            response = await client.get(address.path or "/", {"accept": "application/json"})
            body = await response.read(4_000_000)
        if response.status != 200:
            raise msgspec.DecodeError(f"status {response.status}")
        return msgspec.json.decode(body)
    except TimeoutError:
        raise stalled(client.host, timeout) from None
    except msgspec.DecodeError as error:
        text = f"{client.host} did not answer with a JSON document ({error})."
        raise ModelError(ModelErrorKind.MALFORMED, text, "Check the address.") from error
    finally:
        await client.close()


def _port(base_url: str) -> int:
    url = urlsplit(base_url)
    with suppress(ValueError):  # of a port that is no number
        if url.hostname and url.scheme in ("http", "https"):
            return url.port or (443 if url.scheme == "https" else 80)
    shown = base_url.rpartition("@")[2]
    raise UsageError(f"The base URL {shown!r} is no http or https address.", "Write it as https://host/path.")
