"""Servers repeat the key in every way they can: it is on no screen, and in no file but the one it was stored in."""

import asyncio
import random
import string

import msgspec
import pytest
from tests.net.raw_server import serving
from tests.surfaces.cli.halo_process import Halo

KEY = "sk-" + "".join(random.Random(7).choices(string.ascii_letters + string.digits + "-_.~+/=", k=48))
PIECE = 12
"""So many characters of a key in a row would be too much of it."""

GOOD = b'data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def echo(status: str, body: bytes, kind: str = "application/json", *headers: str) -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"content-type: {kind}", f"content-length: {len(body)}", *headers])
    return head.encode() + b"\r\n\r\n" + body


def error(message: str) -> bytes:
    return msgspec.json.encode({"error": {"message": message, "type": "invalid_request_error", "code": KEY}})


def shifted(count: int) -> bytes:
    return error("x" * count + f" Bearer {KEY} " + "y" * 500)


ANSWERS = {
    "refused": echo("401 Unauthorized", error(f"Incorrect API key provided: {KEY}.")),
    "forbidden": echo("403 Forbidden", error(f"{KEY}{KEY}")),
    "unknown": echo("404 Not Found", msgspec.json.encode({"detail": [{"msg": f"authorization: Bearer {KEY}"}]})),
    "wrong": echo("400 Bad Request", error(f"The model `{KEY}` does not exist")),
    "quota": echo("402 Payment Required", error(KEY)),
    "page": echo("403 Forbidden", f"<html><title>{KEY}</title><b>Bearer</b> {KEY}</html>".encode(), "text/html"),
    "no stream": echo("200 OK", error(KEY)),
    "web page": echo("200 OK", f"<html>{KEY}".encode(), "text/html"),
    "redirect": echo("302 Found", b"", "text/plain", f"location: https://{KEY[3:9]}.example/?key={KEY}"),
    "in the stream": echo("200 OK", b"data: " + shifted(0) + b"\n\n", "text/event-stream"),
    "in a code": echo("400 Bad Request", msgspec.json.encode({"error": {"code": KEY}})),
    **{f"cut at {count}": echo("401 Unauthorized", shifted(count)) for count in range(244, 300, 7)},
    "good": echo("200 OK", GOOD, "text/event-stream"),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_stored_key_stands_in_no_other_file_and_on_no_screen(halo: Halo, name: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert f"authorization: Bearer {KEY}".encode() in head
        writer.write(ANSWERS[name])
        await writer.drain()

    async with serving(answer) as url:
        place = ("--base-url", url)
        ran = [
            await halo.run("login", "openai", *place, stdin=KEY.encode()),
            await halo.run("login", "openai", *place, "--no-test", stdin=KEY.encode()),
            await halo.run("run", "-m", "openai/x", *place, "hi"),
            await halo.run("run", "--output-format", "stream-json", "-m", "openai/x", *place, "hi"),
            await halo.run("doctor", "-m", "openai/x", *place),
        ]
    ran += [await halo.run("export", halo.tasks[0]), await halo.run("tasks", "show", halo.tasks[0])]
    assert [done.code for done in ran[1:4]] == [0, *[0 if name == "good" else 1] * 2]
    shown = "".join(done.out + done.err for done in ran).encode()
    files = [path for path in halo.home.rglob("*") if path.is_file() and path != halo.home / "credentials"]
    assert len(files) > 2
    for text in (shown, *(path.read_bytes() for path in files)):
        assert [KEY[at : at + PIECE] for at in range(len(KEY) - PIECE) if KEY[at : at + PIECE].encode() in text] == []
    assert KEY in (halo.home / "credentials").read_text()
