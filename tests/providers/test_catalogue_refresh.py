import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.net.raw_server import serving
from tests.providers.test_catalogue_file import API

from halocline.net.network import DIRECT, Network
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.refresh import Refreshed, refresh_catalogue

BODY = json.dumps(API).encode()


class Answers:
    """Answers each request with the next of `answers`, and keeps what was asked."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.heads: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        writer.write(self.answers.pop(0))
        await writer.drain()


def answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


async def refreshed(path: Path, *answers: bytes, network: Network = DIRECT) -> tuple[Any, Answers]:
    served = Answers(*answers)
    async with serving(served) as url:
        for _ in answers:
            result = await refresh_catalogue(f"{url}/api.json?v=1", path, network)
    return result, served


async def test_a_fetched_catalogue_is_there_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.gz"
    done, served = await refreshed(path, answer(BODY))
    assert done == Refreshed(4, 2, is_new=True)
    assert served.heads[0].startswith("get /base/api.json?v=1 ")
    assert Catalogue(path).names("far") == ["big-1", "leaving", "old", "priceless"]
    assert [each.name for each in tmp_path.iterdir()] == ["catalogue.gz"]


async def test_a_packed_answer_is_unpacked(tmp_path: Path) -> None:
    done, served = await refreshed(tmp_path / "c.gz", answer(gzip.compress(BODY), "200 OK", "Content-Encoding: gzip"))
    assert done.models == 4
    assert "accept-encoding: gzip\r\n" in served.heads[0]


async def test_a_version_that_is_here_already_is_not_sent_again(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.gz"
    done, served = await refreshed(path, answer(BODY, "200 OK", 'ETag: "v7"'), answer(b"", "304 Not Modified"))
    assert ["if-none-match" in head for head in served.heads] == [False, True]
    assert 'if-none-match: "v7"' in served.heads[1]
    assert done == Refreshed(4, 2, is_new=False)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (answer(b"gone", "404 Not Found"), "the server answered with status 404"),
        (answer(b"", "302 Found", "Location: /x"), "the server answered with status 302"),
        (answer(b"<html>hello</html>"), "it is not a model catalog"),
        (answer(b'{"far": {"models": {}}}'), "it lists no models"),
        (answer(BODY[:200]), "it is not a model catalog"),
        (answer(b"nonsense", "200 OK", "Content-Encoding: gzip"), "it is not a model catalog"),
        (answer(gzip.compress(bytes(80_000_000)), "200 OK", "Content-Encoding: gzip"), "larger than 64,000,000 bytes"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\nhalf", "closed the connection unexpectedly"),
    ],
)
async def test_what_is_no_catalogue_leaves_the_old_one(tmp_path: Path, given: bytes, said: str) -> None:
    path = tmp_path / "catalogue.gz"
    await refreshed(path, answer(BODY))
    before = path.read_bytes()
    with pytest.raises(HaloclineError) as caught:
        await refreshed(path, given)
    assert said in caught.value.text
    assert "The old one stays" in caught.value.hint
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["catalogue.gz"]


async def test_a_server_that_hangs_is_given_up(tmp_path: Path) -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serving(hang) as url:
        with pytest.raises(HaloclineError, match="Cannot fetch"):
            await refresh_catalogue(url, tmp_path / "c.gz", Network(first_byte_timeout=0.2))


async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(HaloclineError, match="Cannot write"):
        await refreshed(tmp_path / "missing" / "c.gz", answer(BODY))


async def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        await refresh_catalogue("ftp://models.example/api.json", tmp_path / "c.gz", DIRECT)
