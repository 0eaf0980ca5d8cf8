"""The real server as a process of its own, with the nonsense model, and a relay that counts and records."""

import asyncio
import re
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.real_server.make_model import CALL, CONTROL, vocabulary
from tests.real_server.set_up import SERVER

from halocline.net.http import fetch_json

TOKENS = vocabulary()
END_OF_REPLY = len(TOKENS) + len(CONTROL) - 1
SEEDED = ("--seed", "3", "--temp", "1")


def liking(*tokens: tuple[int, int]) -> tuple[str, ...]:
    """Flags that make the model fonder of tokens than its weights do."""
    return tuple(word for token, bias in tokens for word in ("-l", f"{token}+{bias}"))


CALLS_TOOLS = liking((TOKENS.index(CALL), 14), (ord('"'), 7), (ord("}"), 5), (ord(","), 4), (END_OF_REPLY, 7))
"""Begins a call at once where there are tools, and keeps it short."""
STOPS_SOON = liking((END_OF_REPLY, 3))
NEVER_STOPS = ("--ignore-eos",)

_LISTENS = re.compile(rb"listening on (http://\S+)")
_PATIENCE = 120.0


@dataclass(slots=True)
class LlamaServer:
    url: str
    log: bytearray

    async def slots(self) -> list[dict[str, Any]]:
        return await fetch_json(f"{self.url}/slots", timeout=5)

    async def is_idle(self) -> bool:
        return not any(slot["is_processing"] for slot in await self.slots())

    async def rests(self) -> None:
        """Waits until nothing is generated any more."""
        async with asyncio.timeout(_PATIENCE):
            while not await self.is_idle():
                await asyncio.sleep(0.05)


@asynccontextmanager
async def llama_server(model: Path, *flags: str) -> AsyncIterator[LlamaServer]:
    """A server for one test or a few; it starts within a tenth of a second."""
    fixed = ("--port", "0", "--alias", "nonsense", "-t", "1", "-np", "1", "--slots", *SEEDED)
    context = () if "-c" in flags else ("-c", "32768")
    words = ("-m", model, *fixed, *context, *flags)
    process = await asyncio.create_subprocess_exec(SERVER, *words, stdout=PIPE, stderr=STDOUT)
    log = bytearray()
    reading = asyncio.create_task(_read(process.stdout, log))
    try:
        async with asyncio.timeout(_PATIENCE):
            while not (listens := _LISTENS.search(log)):
                if process.returncode is not None:
                    raise RuntimeError(log.decode(errors="replace"))
                await asyncio.sleep(0.01)
        yield LlamaServer(listens[1].decode(), log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await reading


async def _read(stream: asyncio.StreamReader | None, log: bytearray) -> None:
    assert stream is not None
    while data := await stream.read(65_536):
        log += data


@dataclass(slots=True)
class Relay:
    """Passes bytes on in both directions. `replies` are the server's bytes, connection by connection."""

    url: str
    replies: list[bytearray] = field(default_factory=list)


@asynccontextmanager
async def relay(to: str) -> AsyncIterator[Relay]:
    """A relay before the server at this URL."""
    host, port = to.removeprefix("http://").split(":")
    passing = Relay("")

    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        record = bytearray()
        passing.replies.append(record)
        there_reader, there_writer = await asyncio.open_connection(host, int(port))
        try:
            with suppress(asyncio.CancelledError):
                await asyncio.gather(_pass_on(reader, there_writer), _pass_on(there_reader, writer, record))
        finally:
            writer.close()
            there_writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        passing.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield passing
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, record: bytearray | None = None) -> None:
    try:
        while data := await reader.read(65_536):
            if record is not None:
                record += data
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()
