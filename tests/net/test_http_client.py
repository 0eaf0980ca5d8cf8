import asyncio
import gzip
import socket
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, aclosing, contextmanager, suppress

import pytest
from hypothesis import given, settings, strategies as st
from tests.net.raw_server import EMPTY, STREAM_HEAD, read_request, serving
from tests.samples import choose

from halocline.net.connection import Connection
from halocline.net.http import HttpClient, fetch_json
from halocline.net.network import Network
from halocline.protocol.errors import ModelError, ModelErrorKind, UsageError


async def post(client: HttpClient, *parts: bytes) -> bytes:
    response = await client.post("/x", {"content-type": "text/plain"}, parts)
    return await response.read(1_000_000)


async def test_the_parts_arrive_as_one_body_with_its_length() -> None:
    received: list[tuple[bytes, bytes]] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await read_request(reader))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async with serving(handler) as url:
        client = HttpClient(url)
        assert await post(client, b"one,", b"", b"two") == b"ok"
        await client.close()
    head, body = received[0]
    assert head.startswith(b"POST /base/x HTTP/1.1\r\n")
    assert body == b"one,two"


@pytest.mark.parametrize("size", [40_000, 131_072, 300_000])
async def test_a_long_body_of_many_parts_arrives_in_order(size: int) -> None:
    received: list[bytes] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append((await read_request(reader))[1])
        writer.write(EMPTY)

    parts = [bytes([number]) * size for number in range(5)]
    async with serving(handler) as url:
        client = HttpClient(url)
        await post(client, *parts)
        await client.close()
    assert received == [b"".join(parts)]


async def test_one_connection_carries_many_requests() -> None:
    connections = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        for _ in range(3):
            await read_request(reader)
            writer.write(STREAM_HEAD + b"2\r\nok\r\n0\r\n\r\n")

    async with serving(handler) as url:
        client = HttpClient(url)
        assert [await post(client, b"x") for _ in range(3)] == [b"ok"] * 3
        await client.close()
    assert connections == 1


async def test_a_kept_connection_that_died_is_replaced_once_without_a_word() -> None:
    connections = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await read_request(reader)
        writer.write(EMPTY)
        if connections == 1:
            # The second request arrives, and is dropped without a byte of an answer.
            await read_request(reader)

    async with serving(handler) as url:
        client = HttpClient(url)
        await post(client, b"x")
        assert await post(client, b"y") == b""
        await client.close()
    assert connections == 2


async def test_a_request_that_was_half_answered_is_not_sent_again() -> None:
    requests = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        for answer in (EMPTY, EMPTY[:5]):
            await read_request(reader)
            requests += 1
            writer.write(answer)

    async with serving(handler) as url:
        client = HttpClient(url)
        await post(client, b"x")
        with pytest.raises(ModelError, match="closed the connection"):
            await post(client, b"y")
    assert requests == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    ],
)
async def test_a_server_that_takes_one_request_a_connection_gets_no_second(answer: bytes) -> None:
    connections = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await read_request(reader)
        writer.write(answer)
        assert await reader.read() == b""

    async with serving(handler) as url:
        client = HttpClient(url)
        assert [await post(client, b"x") for _ in range(2)] == [b"ok", b"ok"]
    assert connections == 2


async def test_a_new_connection_that_dies_unanswered_is_an_error() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)

    async with serving(handler) as url:
        with pytest.raises(ModelError) as caught:
            await post(HttpClient(url), b"x")
    assert caught.value.kind is ModelErrorKind.NETWORK
    assert "127.0.0.1" in caught.value.text
    assert caught.value.hint


async def test_leaving_the_body_early_closes_the_socket() -> None:
    left = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(STREAM_HEAD + b"3\r\none\r\n")
        assert await reader.read() == b""
        left.set()

    async with serving(handler) as url:
        client = HttpClient(url)
        response = await client.post("/x", {}, (b"x",))
        async with aclosing(response.body()) as body:
            async for chunk in body:
                assert chunk == b"one"
                break
        await left.wait()


async def test_cancelling_a_reader_closes_the_socket() -> None:
    waiting, left = asyncio.Event(), asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(STREAM_HEAD)
        waiting.set()
        assert await reader.read() == b""
        left.set()

    async with serving(handler) as url:
        task = asyncio.create_task(post(HttpClient(url), b"x"))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await left.wait()


async def test_cancelling_before_the_answer_closes_the_socket() -> None:
    waiting, left = asyncio.Event(), asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        waiting.set()
        assert await reader.read() == b""
        left.set()

    async with serving(handler) as url:
        task = asyncio.create_task(post(HttpClient(url), b"x"))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await left.wait()


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200", STREAM_HEAD, STREAM_HEAD + b"3\r\none\r\n"])
async def test_silence_is_a_stall(sent: bytes) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(sent)
        await reader.read()

    async with serving(handler) as url:
        with pytest.raises(ModelError) as caught:
            await post(HttpClient(url, Network(first_byte_timeout=0.05, stall_timeout=0.05)), b"x")
    assert caught.value.kind is ModelErrorKind.STALLED
    assert "127.0.0.1" in caught.value.text


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        STREAM_HEAD + b"3\r\non",
        STREAM_HEAD + b"zz\r\n",
        STREAM_HEAD + b"3\r\nfour\r\n",
        STREAM_HEAD + b"-1\r\n",
        STREAM_HEAD + b"fffffffffffffffffffffff\r\nx",
        STREAM_HEAD + b"3\r\none\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour",
        b"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nfour",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nfour",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000,
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02\x16",
    ],
)
async def test_a_broken_answer_is_a_network_error(sent: bytes) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(sent)

    async with serving(handler) as url:
        with pytest.raises(ModelError) as caught:
            await post(HttpClient(url), b"x")
    assert caught.value.kind is ModelErrorKind.NETWORK


async def test_what_is_no_http_is_named_with_what_to_check() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n")
        await reader.read()

    async with serving(handler) as url:
        with pytest.raises(ModelError, match="did not send a valid HTTP response") as caught:
            await post(HttpClient(url), b"x")
    assert "port" in caught.value.hint


async def test_a_server_that_leaves_after_any_byte_of_the_head_is_a_network_error() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\nok"
    sent = iter(range(len(head)))

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(head[: next(sent)])

    async with serving(handler) as url:
        for _ in range(len(head)):
            with pytest.raises(ModelError, match="closed the connection") as caught:
                await post(HttpClient(url), b"x")
            assert caught.value.kind is ModelErrorKind.NETWORK
    assert next(sent, None) is None


WHOLE = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n3\r\none\r\n0\r\n\r\n"
MANGLED = st.builds(
    lambda start, length, put: WHOLE[:start] + put + WHOLE[start + length :],
    st.integers(0, len(WHOLE)),
    st.integers(0, 9),
    st.one_of(st.binary(max_size=9), st.sampled_from([b"\r\n", b"\r\n\r\n", b"Content-Length: 5\r\n", b"\x00"])),
)


@settings(max_examples=choose(60, 12), deadline=None)
@given(MANGLED)
def test_whatever_a_server_answers_is_a_body_or_an_error_of_the_model(answer: bytes) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(answer)

    async def ask() -> None:
        async with serving(handler) as url:
            client = HttpClient(url)
            with suppress(ModelError):
                await post(client, b"x")
            await client.close()

    asyncio.run(ask())


@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_any_cutting_of_an_answer_gives_the_same_body(size: int) -> None:
    answer = STREAM_HEAD + b"3;name=value\r\none\r\n00004\r\n,two\r\n0\r\nTrailer: x\r\n\r\n"

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        for start in range(0, len(answer), size):
            writer.write(answer[start : start + size])
            await asyncio.sleep(0)

    async with serving(handler) as url:
        client = HttpClient(url)
        assert await post(client, b"x") == b"one,two"
        await client.close()


@pytest.mark.parametrize("said", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"])
async def test_what_a_server_says_before_its_answer_is_passed_over(said: bytes) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(said * 2 + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async with serving(handler) as url:
        client = HttpClient(url)
        assert await post(client, b"x") == b"ok"
        await client.close()


@pytest.mark.parametrize("answer", [EMPTY, STREAM_HEAD + b"0\r\n\r\n"])
async def test_what_follows_an_answer_unasked_is_not_taken_for_the_next_answer(answer: bytes) -> None:
    connections = 0

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await read_request(reader)
        writer.write(answer + (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged" if connections == 1 else b""))
        await reader.read()

    async with serving(handler) as url:
        client = HttpClient(url)
        assert [await post(client, b"x") for _ in range(2)] == [b"", b""]
        await client.close()
    assert connections == 2


@pytest.mark.parametrize("later", [b"x", b""])
async def test_a_connection_on_which_something_comes_unasked_or_that_ends_is_not_quiet(later: bytes) -> None:
    ours, theirs = socket.socketpair()
    connection = Connection(*await asyncio.open_connection(sock=ours))
    assert connection.is_quiet
    theirs.sendall(later)
    theirs.shutdown(socket.SHUT_WR)
    while connection.is_quiet:
        await asyncio.sleep(0)
    connection.abort()
    theirs.close()


async def test_an_answer_that_comes_before_the_body_was_read_counts() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
        await reader.read()

    async with serving(handler) as url:
        client = HttpClient(url)
        response = await client.post("/x", {}, (b"x" * 3_000_000,))
        assert response.status == 413
        assert await response.read(100) == b"big"


async def test_a_body_without_a_length_ends_with_the_connection() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nall of it")

    async with serving(handler) as url:
        assert await post(HttpClient(url), b"x") == b"all of it"


async def test_a_refused_connection_says_what_to_start() -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    with pytest.raises(ModelError, match="refused the connection") as caught:
        await post(HttpClient(f"http://127.0.0.1:{port}"), b"x")
    assert caught.value.kind is ModelErrorKind.UNREACHABLE
    assert "--base-url" in caught.value.hint


async def test_an_unknown_host_is_unreachable() -> None:
    with pytest.raises(ModelError) as caught:
        await post(HttpClient("http://nowhere.invalid"), b"x")
    assert caught.value.kind is ModelErrorKind.UNREACHABLE
    assert "nowhere.invalid" in caught.value.text


@contextmanager
def full_queue() -> Iterator[str]:
    """The URL of a server that takes no more connections, and refuses none."""
    with ExitStack() as sockets:
        listening = sockets.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for caller in [sockets.enter_context(socket.socket()) for _ in range(4)]:
            caller.setblocking(False)
            caller.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


async def test_a_server_whose_queue_is_full_is_not_waited_for_longer_than_was_said() -> None:
    with full_queue() as url, pytest.raises(ModelError, match=r"within 0\.05 s") as caught:
        await post(HttpClient(url, Network(connect_timeout=0.05)), b"x")
    assert caught.value.kind is ModelErrorKind.UNREACHABLE
    assert "--connect-timeout" in caught.value.hint


async def test_a_connection_that_is_still_waited_for_can_be_cancelled() -> None:
    with full_queue() as url:
        task = asyncio.create_task(post(HttpClient(url), b"x"))
        await asyncio.sleep(0.02)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_the_first_byte_of_a_body_may_take_as_long_as_the_head() -> None:
    asked = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(STREAM_HEAD)
        await asked.wait()
        writer.write(b"5\r\nafter\r\n0\r\n\r\n")

    async with serving(handler) as url:
        client = HttpClient(url, Network(first_byte_timeout=20, stall_timeout=0.02))
        response = await client.post("/x", {}, (b"x",))
        reading = asyncio.create_task(response.read(100))
        await asyncio.sleep(0.06)
        assert not reading.done()
        asked.set()
        assert await reading == b"after"
        await client.close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:11434",
        "ftp://host",
        "http://",
        "http://host:port",
        "http://host:99999",
        "https://ho st",
        "https://grün.example",
    ],
)
def test_a_base_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(UsageError, match="base URL"):
        HttpClient(url)


async def test_a_header_that_cannot_be_sent_is_not_shown() -> None:
    with pytest.raises(ModelError) as caught:
        await HttpClient("http://127.0.0.1:1").post("/x", {"x-api-key": "sk-secret\n"}, ())
    assert caught.value.kind is ModelErrorKind.INVALID_REQUEST
    assert "sk-secret" not in caught.value.text
    assert caught.value.__cause__ is None


async def test_json_is_fetched_from_a_local_server() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert (await read_request(reader))[0].startswith(b"GET /base HTTP/1.1")
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"ok":true}')

    async with serving(handler) as url:
        assert await fetch_json(url, 2) == {"ok": True}


@pytest.mark.parametrize("answer", [b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n{}", EMPTY, b""])
async def test_fetching_json_from_something_else_is_a_model_error(answer: bytes) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(answer)

    async with serving(handler) as url:
        with pytest.raises(ModelError):
            await fetch_json(url, 2)


def answer_of(coding: str, body: bytes, size: int) -> bytes:
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    coded = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in [*chunks, b""])
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head.encode() + coded


TEXT = b"data: " + b"x" * 3_000_000


@pytest.mark.parametrize("size", [1, 5_000_000])
@pytest.mark.parametrize(
    ("coding", "body", "text"),
    [
        ("gzip", gzip.compress(TEXT, mtime=0), TEXT),
        ("GZip", gzip.compress(b"one, ", mtime=0) + gzip.compress(b"two", mtime=0), b"one, two"),
        ("deflate", zlib.compress(TEXT), TEXT),
        ("gzip", b"data: not compressed", b"data: not compressed"),
        ("gzip", b"d", b"d"),
        ("gzip", b"", b""),
        ("br", b"data: not compressed", b"data: not compressed"),
    ],
)
async def test_a_body_is_decoded_if_it_is_compressed(coding: str, body: bytes, text: bytes, size: int) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head, _ = await read_request(reader)
        assert b"accept-encoding: identity" in head
        writer.write(answer_of(coding, body, size))

    async with serving(handler) as url:
        client = HttpClient(url)
        response = await client.post("/x", {}, ())
        assert await response.read(5_000_000) == text
        await client.close()


async def test_a_damaged_compressed_body_is_a_broken_connection() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(answer_of("gzip", gzip.compress(b"text", mtime=0)[:10] + b"\xff" * 50, 9))

    async with serving(handler) as url:
        client = HttpClient(url)
        with pytest.raises(ModelError, match="decompressing") as caught:
            await post(client)
        assert caught.value.kind is ModelErrorKind.NETWORK
        await client.close()
