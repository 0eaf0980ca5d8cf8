import asyncio
import ssl
from pathlib import Path

import pytest
from tests.net.certificates import FUTURE, PAST, Authority
from tests.net.raw_server import read_request, serving

from halocline.net.http import HttpClient
from halocline.net.network import DIRECT, Network
from halocline.protocol.errors import ModelError, ModelErrorKind


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for _ in range(2):
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def asked(url: str, network: Network) -> bytes:
    client = HttpClient(url, network)
    try:
        return await (await client.post("/x", {}, (b"body",))).read(100)
    finally:
        await client.close()


async def failure(url: str, network: Network = DIRECT) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await asked(url, network)
    return caught.value


async def test_a_server_of_a_named_authority_is_spoken_to(authority: Authority, trusted: ssl.SSLContext) -> None:
    async with serving(answering, trusted) as url:
        assert await asked(url, Network(ca_files=(authority.ca_file,))) == b"ok"


async def test_a_connection_over_tls_is_kept_for_the_next_request(
    authority: Authority, trusted: ssl.SSLContext
) -> None:
    connections = 0

    async def counting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await answering(reader, writer)

    async with serving(counting, trusted) as url:
        client = HttpClient(url, Network(ca_files=(authority.ca_file,)))
        for _ in range(2):
            assert await (await client.post("/x", {}, (b"body",))).read(100) == b"ok"
        await client.close()
    assert connections == 1


async def test_a_long_body_goes_both_ways_over_tls(authority: Authority, trusted: ssl.SSLContext) -> None:
    async def echoing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        await reader.read()

    sent = bytes(range(256)) * 8_000
    async with serving(echoing, trusted) as url:
        client = HttpClient(url, Network(ca_files=(authority.ca_file,)))
        assert await (await client.post("/x", {}, (sent,))).read(len(sent) + 1) == sent
        await client.close()


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("stranger", "from an authority that this machine does not know"),
        ("lone", "that is self-signed"),
        ("expired", "that has expired"),
        ("early", "that is not valid yet"),
        ("other", "for a different host name"),
    ],
)
async def test_a_certificate_that_is_not_to_be_trusted_is_named_in_one_sentence_and_never_tried_again(
    authority: Authority, trusted: ssl.SSLContext, name: str, sentence: str
) -> None:
    contexts = {
        "stranger": lambda: trusted,
        "lone": lambda: authority.signs_itself("lone"),
        "expired": lambda: authority.signs("expired", dates=PAST),
        "early": lambda: authority.signs("early", dates=FUTURE),
        "other": lambda: authority.signs("other", names="DNS:elsewhere.example"),
    }
    network = DIRECT if name == "stranger" else Network(ca_files=(authority.ca_file,))
    async with serving(answering, contexts[name]()) as url:
        error = await failure(url, network)
    host = url.removeprefix("https://").removesuffix("/base")
    assert error.text.startswith(f"{host} presented a certificate {sentence}")
    assert (error.kind, error.retryable) == (ModelErrorKind.TLS, False)
    assert error.hint


@pytest.mark.process
async def test_a_certificate_for_another_address_is_refused(authority: Authority) -> None:
    context = authority.signs("named", names="DNS:localhost")
    async with serving(answering, context) as url:
        error = await failure(url.replace("localhost", "127.0.0.1"), Network(ca_files=(authority.ca_file,)))
    assert "for a different address" in error.text


@pytest.mark.parametrize("content", [None, "", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"])
async def test_a_ca_file_that_holds_none_is_named(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    async with serving(answering) as url:
        error = await failure(url.replace("http:", "https:"), Network(ca_files=(str(file),)))
    assert str(file) in error.text
    assert "ca_file" in error.hint
    assert not error.retryable


async def test_a_server_that_leaves_during_the_handshake_may_be_asked_again() -> None:
    async def leaving(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.transport.abort()

    async with serving(leaving) as url:
        error = await failure(url.replace("http:", "https:"))
    assert error.kind is ModelErrorKind.NETWORK
    assert "closed the connection" in error.text


async def test_a_server_that_speaks_no_tls_is_never_tried_again() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with serving(plain) as url:
        error = await failure(url.replace("http:", "https:"))
    assert error.kind is ModelErrorKind.TLS
    assert "does not use TLS" in error.text


async def test_a_handshake_that_is_not_answered_is_cut_off() -> None:
    heard = asyncio.get_running_loop().create_future()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set_result(await reader.read())

    async with serving(silent) as url:
        error = await failure(url.replace("http:", "https:"), Network(connect_timeout=0.5))
        assert await heard != b""
    assert error.kind is ModelErrorKind.UNREACHABLE
    assert "within 0.5 s" in error.text


async def test_cancelling_a_handshake_closes_the_socket() -> None:
    waiting, left = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        waiting.set()
        await reader.read()
        left.set()

    async with serving(silent) as url:
        task = asyncio.create_task(asked(url.replace("http:", "https:"), DIRECT))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await left.wait()
