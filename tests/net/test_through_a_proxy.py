import asyncio
import ssl

import pytest
from tests.net.certificates import Authority
from tests.net.raw_server import EMPTY, read_request, serving
from tests.servers.proxy_server import ProxyServer

from halocline.net.address import Address, address_of
from halocline.net.http import HttpClient
from halocline.net.network import Network
from halocline.net.proxies import proxy_for
from halocline.protocol.errors import ModelError, ModelErrorKind

MODELS = "https://models.example"
TARGET = "models.example:443"


def through(url: str, authority: Authority | None = None, **times: float) -> Network:
    proxy = proxy_for(Address("models.example", 443, True), url, {})
    return Network(proxy=proxy, ca_files=(authority.ca_file,) if authority else (), **times)


def port_of(url: str) -> int:
    address = address_of(url)
    assert address is not None
    return address.port


class Echo:
    """Answers with what it was sent, and keeps the heads of the requests."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            head, body = await read_request(reader)
            self.heads.append(head)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


async def asked(url: str, network: Network, body: bytes = b"body") -> bytes:
    client = HttpClient(url, network)
    try:
        return await (await client.post("/x", {"authorization": "Bearer sk-key"}, (body,))).read(len(body))
    finally:
        await client.close()


async def failure(url: str, network: Network) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await asked(url, network)
    return caught.value


@pytest.mark.process
async def test_a_tls_server_is_spoken_to_through_a_tunnel(authority: Authority, trusted: ssl.SSLContext) -> None:
    echo = Echo()
    async with serving(echo, trusted) as url, ProxyServer(routes={TARGET: port_of(url)}) as proxy:
        sent = bytes(range(256)) * 2_000
        assert await asked(f"{MODELS}/v1", through(proxy.url, authority), sent) == sent
    assert [(request.method, request.target) for request in proxy.requests] == [("CONNECT", TARGET)]
    assert "authorization" not in proxy.requests[0].headers
    assert echo.heads[0].startswith(b"POST /v1/x HTTP/1.1\r\n")
    assert b"proxy" not in echo.heads[0].lower()


async def test_one_tunnel_carries_many_requests(authority: Authority, trusted: ssl.SSLContext) -> None:
    async with serving(Echo(), trusted) as url, ProxyServer(routes={TARGET: port_of(url)}) as proxy:
        client = HttpClient(MODELS, through(proxy.url, authority))
        for _ in range(3):
            assert await (await client.post("/x", {}, (b"body",))).read(100) == b"body"
        await client.close()
    assert len(proxy.requests) == 1


async def test_a_tunnel_goes_through_a_proxy_that_itself_speaks_tls(
    authority: Authority, trusted: ssl.SSLContext
) -> None:
    async with serving(Echo(), trusted) as url, ProxyServer(routes={TARGET: port_of(url)}, tls=trusted) as proxy:
        sent = bytes(range(256)) * 2_000
        assert await asked(MODELS, through(proxy.url, authority), sent) == sent


@pytest.mark.parametrize("secure", [False, True])
async def test_a_plain_server_is_asked_by_its_whole_url(
    authority: Authority, trusted: ssl.SSLContext, secure: bool
) -> None:
    echo = Echo()
    tls = trusted if secure else None
    async with (
        serving(echo) as url,
        ProxyServer(routes={"models.example:8000": port_of(url)}, tls=tls) as proxy,
    ):
        network = through(proxy.url.replace("//", "//me:secret@"), authority)
        assert await asked("http://models.example:8000/v1", network) == b"body"
    (request,) = proxy.requests
    assert (request.method, request.target) == ("POST", "http://models.example:8000/v1/x")
    assert request.headers["host"] == "models.example:8000"
    assert request.headers["proxy-authorization"].startswith("Basic ")
    assert echo.heads[0].startswith(b"POST /v1/x HTTP/1.1\r\n")
    assert b"proxy-authorization" not in echo.heads[0].lower()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_the_password_of_the_proxy_opens_it(authority: Authority, trusted: ssl.SSLContext, scheme: str) -> None:
    tls, port = (trusted, 443) if scheme == "https" else (None, 80)
    async with serving(Echo(), tls) as url:
        routes = {f"models.example:{port}": port_of(url)}
        async with ProxyServer(routes=routes, credentials="me:s@cret") as proxy:
            network = through(proxy.url.replace("//", "//me:s%40cret@"), authority)
            assert await asked(f"{scheme}://models.example", network) == b"body"


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("shown", ["", "me:wrong-secret@"])
async def test_a_proxy_that_wants_another_password_says_so_and_is_not_asked_again(scheme: str, shown: str) -> None:
    async with ProxyServer(credentials="me:s@cret") as proxy:
        error = await failure(f"{scheme}://models.example", through(proxy.url.replace("//", f"//{shown}")))
        await proxy.was_left()
    assert (error.kind, error.retryable, error.status) == (ModelErrorKind.PROXY, False, 407)
    assert f"The proxy 127.0.0.1:{proxy.port} requires a user name and password" in error.text
    assert "secret" not in error.text + error.hint


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [
        (403, ModelErrorKind.PROXY, "does not allow requests to models.example (status 403)"),
        (405, ModelErrorKind.PROXY, "does not allow requests to models.example (status 405)"),
        (302, ModelErrorKind.PROXY, "does not allow requests to models.example (status 302)"),
        (502, ModelErrorKind.UNREACHABLE, "could not reach models.example (status 502)"),
        (504, ModelErrorKind.UNREACHABLE, "could not reach models.example (status 504)"),
    ],
)
async def test_a_proxy_that_opens_no_tunnel_is_named_and_left(status: int, kind: ModelErrorKind, sentence: str) -> None:
    async with ProxyServer(status=status) as proxy:
        error = await failure(MODELS, through(proxy.url))
        await proxy.was_left()
    assert error.kind is kind
    assert error.text == f"The proxy 127.0.0.1:{proxy.port} {sentence}."


async def test_a_proxy_that_is_not_there_is_named() -> None:
    async with ProxyServer() as proxy:
        network = through(proxy.url)
    error = await failure(MODELS, network)
    assert error.kind is ModelErrorKind.UNREACHABLE
    assert error.text == f"The proxy 127.0.0.1:{proxy.port} refused the connection."
    assert "HTTPS_PROXY" in error.hint


async def test_a_wrong_certificate_behind_a_proxy_is_laid_to_the_server(
    authority: Authority, trusted: ssl.SSLContext
) -> None:
    async with serving(Echo(), trusted) as url, ProxyServer(routes={"other.example:443": port_of(url)}) as proxy:
        error = await failure("https://other.example", through(proxy.url, authority))
        await proxy.was_left()
    assert error.text == "other.example presented a certificate for a different host name."


async def test_a_wrong_certificate_of_a_proxy_is_laid_to_the_proxy(trusted: ssl.SSLContext) -> None:
    async with ProxyServer(tls=trusted) as proxy:
        error = await failure(MODELS, through(proxy.url))
    assert error.text.startswith(f"The proxy 127.0.0.1:{proxy.port} presented a certificate from an authority")


async def test_a_proxy_that_leaves_after_any_byte_of_its_answer_is_a_network_error() -> None:
    answer = b"HTTP/1.1 200 OK\r\n\r\n"
    sent = iter(range(len(answer)))

    async def leaving(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer[: next(sent)])

    async with serving(leaving) as url:
        for _ in range(len(answer)):
            error = await failure(MODELS, through(url))
            assert (error.kind, "closed the connection" in error.text) == (ModelErrorKind.NETWORK, True)


@pytest.mark.parametrize(
    "answer", [b"nonsense\r\n\r\n", b"SSH-2.0-OpenSSH\r\n", b"\x05\x00", b"HTTP/1.1 200 " + b"x" * 200_000]
)
async def test_a_proxy_that_speaks_something_else_is_a_network_error(answer: bytes) -> None:
    async def lying(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)

    async with serving(lying) as url:
        assert (await failure(MODELS, through(url))).kind is ModelErrorKind.NETWORK


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\n\r\n", EMPTY, b"HTTP/1.1 200 OK\r\nX: " + b"y" * 65_512 + b"\r\n\r\n"]
)
async def test_what_a_proxy_says_before_the_tunnel_is_not_taken_for_the_server(
    head: bytes, authority: Authority, trusted: ssl.SSLContext
) -> None:
    async def forging(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
        await writer.start_tls(trusted)
        await reader.read()

    async with serving(forging) as url:
        error = await failure(MODELS, through(url, authority))
    assert (error.kind, "unexpected data" in error.text) == (ModelErrorKind.NETWORK, True)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_silent_proxy_is_cut_off(scheme: str) -> None:
    async with ProxyServer(silent=True) as proxy:
        times = {"connect_timeout": 0.05} if scheme == "https" else {"first_byte_timeout": 0.05}
        error = await failure(f"{scheme}://models.example", through(proxy.url, **times))
        await proxy.was_left()
    assert "0.05 s" in error.text


async def test_cancelling_while_a_proxy_opens_the_tunnel_closes_the_socket() -> None:
    async with ProxyServer(silent=True) as proxy:
        task = asyncio.create_task(asked(MODELS, through(proxy.url)))
        await proxy.received()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await proxy.was_left()


async def test_cancelling_a_handshake_inside_a_tunnel_closes_it() -> None:
    waiting, left = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        waiting.set()
        await reader.read()
        left.set()

    async with serving(silent) as url, ProxyServer(routes={TARGET: port_of(url)}) as proxy:
        task = asyncio.create_task(asked(MODELS, through(proxy.url)))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await left.wait()
        await proxy.was_left()


async def test_leaving_an_answer_early_closes_the_tunnel(authority: Authority, trusted: ssl.SSLContext) -> None:
    left = asyncio.Event()

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(EMPTY.replace(b"Length: 0", b"Length: 99") + b"begun")
        await reader.read()
        left.set()

    async with serving(endless, trusted) as url, ProxyServer(routes={TARGET: port_of(url)}) as proxy:
        client = HttpClient(MODELS, through(proxy.url, authority))
        response = await client.post("/x", {}, (b"body",))
        response.close()
        await left.wait()
        await proxy.was_left()
