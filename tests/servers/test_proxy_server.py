"""The judge is the HTTP client of Python's own library."""

import asyncio
import ssl
from contextlib import suppress
from urllib.error import HTTPError
from urllib.request import HTTPSHandler, ProxyHandler, build_opener

import pytest
from tests.net.certificates import Authority, authority, trusted
from tests.servers.model_server import ModelServer
from tests.servers.proxy_server import ProxyServer

__all__ = ["authority", "trusted"]


async def fetched(url: str, proxy: str, context: ssl.SSLContext | None = None) -> bytes:
    opener = build_opener(ProxyHandler({"http": proxy, "https": proxy}), HTTPSHandler(context=context))

    def read() -> bytes:
        with opener.open(url, timeout=20) as answer:
            return answer.read()

    return await asyncio.to_thread(read)


@pytest.mark.process
@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_requests_are_passed_on(authority: Authority, trusted: ssl.SSLContext, scheme: str) -> None:
    tls = trusted if scheme == "https" else None
    context = ssl.create_default_context(cafile=authority.ca_file)
    async with (
        ModelServer(tls=tls) as server,
        ProxyServer(routes={"models.example:8000": server.port}, credentials="me:s@cret") as proxy,
    ):
        shown = proxy.url.replace("//", "//me:s%40cret@")
        assert b"scripted" in await fetched(f"{scheme}://models.example:8000/v1/models", shown, context)
    assert proxy.requests[0].method == ("CONNECT" if tls else "GET")
    assert len(server.questions) == 1


@pytest.mark.parametrize(("credentials", "status"), [("me:secret", 407), ("", 502)])
async def test_what_cannot_be_passed_on_is_answered(credentials: str, status: int) -> None:
    async with ModelServer() as server:
        port = server.port
    async with ProxyServer(routes={"models.example:80": port}, credentials=credentials) as proxy:
        with pytest.raises(HTTPError) as caught:
            await fetched("http://models.example/v1/models", proxy.url)
    assert caught.value.code == status
    caught.value.close()


@pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nhalf", b"x" * 100_000 + b"\r\n\r\n"])
async def test_what_is_no_request_is_not_answered(sent: bytes) -> None:
    async with ProxyServer() as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(sent)
        writer.write_eof()
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.transport.abort()
    assert proxy.requests == []
