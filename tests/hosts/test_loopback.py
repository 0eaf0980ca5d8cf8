import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from halocline.hosts.web.oauth_callback import Loopback


@pytest.fixture
async def loopback() -> AsyncIterator[Loopback]:
    async with Loopback() as loopback:
        yield loopback


async def sends(loopback: Loopback, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", loopback.port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


async def opens(loopback: Loopback, target: str, method: str = "GET") -> bytes:
    return await sends(loopback, f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())


def way_back(loopback: Loopback) -> str:
    return "/" + loopback.url.split("/", 3)[3]


async def test_the_first_right_visit_brings_its_query_and_later_ones_nothing(loopback: Loopback) -> None:
    answer = await opens(loopback, f"{way_back(loopback)}?code=abc%20d&more=1")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert await loopback.wait_for_redirect() == {"code": "abc d", "more": "1"}
    assert (await opens(loopback, f"{way_back(loopback)}?code=other")).startswith(b"HTTP/1.1 404")
    assert await loopback.wait_for_redirect() == {"code": "abc d", "more": "1"}


@pytest.mark.parametrize("target", ["/", "/favicon.ico", "/callback/guessed?code=x", "/callback/?code=x"])
async def test_a_visit_elsewhere_is_turned_away_and_changes_nothing(loopback: Loopback, target: str) -> None:
    assert (await opens(loopback, target)).startswith(b"HTTP/1.1 404")
    assert (await opens(loopback, way_back(loopback) + "x?code=x")).startswith(b"HTTP/1.1 404")
    assert (await opens(loopback, way_back(loopback) + "?code=x", "POST")).startswith(b"HTTP/1.1 404")
    await opens(loopback, way_back(loopback) + "?code=right")
    assert await loopback.wait_for_redirect() == {"code": "right"}


@pytest.mark.parametrize("noise", [b"", b"\x16\x03\x01", b"x" * 100_000, b"GET / "])
async def test_what_is_no_request_does_no_harm(loopback: Loopback, noise: bytes) -> None:
    with suppress(ConnectionError):
        await sends(loopback, noise + b"\r\n\r\n")
    await opens(loopback, way_back(loopback) + "?code=right")
    assert await loopback.wait_for_redirect() == {"code": "right"}


async def test_the_page_repeats_nothing_that_came_and_loads_nothing(loopback: Loopback) -> None:
    answer = await opens(loopback, way_back(loopback) + "?error=<script>&code=secret-code")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"default-src 'none'" in head
    assert b"no-store" in head
    assert b"secret-code" not in body
    assert b"<script>" not in body


async def test_no_two_ways_back_are_alike() -> None:
    async with Loopback() as one, Loopback() as other:
        assert way_back(one) != way_back(other)
        assert one.query_of(other.url + "?code=x") is None
        assert one.query_of(one.url + "?code=x") == {"code": "x"}


async def test_only_this_machine_is_listened_to(loopback: Loopback) -> None:
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.2", loopback.port)) != 0


async def test_a_connection_that_says_nothing_does_not_keep_it_open() -> None:
    async with asyncio.timeout(5):
        async with Loopback() as loopback:
            _, writer = await asyncio.open_connection("127.0.0.1", loopback.port)
        writer.close()
