"""Our HTTP client as a transport for third-party clients based on httpx2.

So proxies, certificates, timeouts and error messages are the same for every model. A `ModelError` raised here passes
through the third-party client as the cause of whatever that raises.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx2

from halocline.net.http import HttpClient, Response
from halocline.net.network import Network

_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "proxy-authorization"})


class NetworkTransport(httpx2.AsyncBaseTransport):
    """Sends requests to any server over `network`."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._clients: dict[str, HttpClient] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        client = self._client(f"{request.url.scheme}://{request.url.netloc.decode('ascii')}")
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

    def _client(self, origin: str) -> HttpClient:
        if origin not in self._clients:
            self._clients[origin] = HttpClient(origin, self._network)
        return self._clients[origin]


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
