"""Batches among random faults: the report is that of an undisturbed run, item by item.

The provider refuses, fails, cuts and garbles its replies, the driver is killed, and the disk of its home fills up.
`make random-failures FAULTS=500` makes as many faults as one wants.
"""

import asyncio
import contextlib
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.journeys.soundness import assert_sound
from tests.net.raw_server import read_request, serving
from tests.servers.wire_formats import OpenAIFormat
from tests.surfaces.cli.halo_process import Halo

from halocline.protocol import codec
from halocline.providers.scripted.script import Call, Turn

pytestmark = [pytest.mark.process, pytest.mark.long]
FAULTS = int(os.environ.get("FAULTS", "60"))
ITEMS = 12
IN_A_ROW = 2
"""Faults of the provider before it answers the same request: more are what ends a task rightly."""
THINKING = 1.5
"""Seconds that the model thinks about a call that failed: longer than the disk is full."""
SIZE = "24m"
"""Of the disk that fills up, where this process may mount one."""
COUNTED = ("ending", "cause", "problem", "accepted", "files", "added", "removed")
BUSY = b'{"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}'
FAILED = b'{"error": {"message": "The server had an error", "type": "server_error"}}'


class Provider:
    """A model that goes by what it reads: it does the next step of the item that the prompt names, faults or not."""

    def __init__(self, seed: int) -> None:
        self.chance = 0.0
        self.faults = Counter[str]()
        self._random = Random(seed)
        self._in_a_row = Counter[tuple[str, int]]()
        self._format = OpenAIFormat()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head, body = await read_request(reader)
                if not head.startswith(b"POST "):
                    writer.write(_document(404, b"{}"))
                    continue
                messages = json.loads(body)["messages"]
                if messages[-1]["role"] == "tool" and "Created" not in str(messages[-1]["content"]):
                    await asyncio.sleep(THINKING)
                item, turn = find_step(messages)
                data = b"".join(piece.data for piece in self._format.stream(turn, "m", len(messages)))
                if not await self._reply(writer, data, (item, len(messages))):
                    return

    async def _reply(self, writer: asyncio.StreamWriter, data: bytes, asked: tuple[str, int]) -> bool:
        """Answer, or fail; False if the connection is not to be used again."""
        if self._in_a_row[asked] < IN_A_ROW and self._random.random() < self.chance:
            self._in_a_row[asked] += 1
            kind = self._random.choice(["busy", "failed", "nothing", "cut", "garbage", "error inside"])
            self.faults[kind] += 1
        else:
            kind = ""
        half = data[: self._random.randint(1, len(data) - 1)]
        match kind:
            case "busy":
                writer.write(_document(429, BUSY, b"Retry-After: 1\r\n"))
            case "failed":
                writer.write(_document(self._random.choice((500, 502, 503, 529)), FAILED))
            case "nothing":
                return False
            case "cut":
                writer.write(_stream(half, whole=False))
                return False
            case "garbage":
                writer.write(_stream(half + b"\n\ndata: {garbage\n\n"))
            case "error inside":
                writer.write(_stream(half + b"\n\n" + self._format.stream_error()))
            case _:
                writer.write(_stream(data))
        await writer.drain()
        return True


def find_step(messages: list[dict[str, Any]]) -> tuple[str, Turn]:
    """Return the item of a conversation and the next step: the first that is not done by what the conversation has."""
    text = json.dumps(messages)
    found = re.search(r"This is item (\d+)\.", text)
    number = int(found[1]) if found else 0
    for at in range(2 + number % 3):
        there = rf"(Created|Overwrote) new{at}\.txt|new{at}\.txt (is unchanged: it exists|already has exactly)"
        if not re.search(there, text):
            arguments = {"path": f"new{at}.txt", "content": f"{number} of {at}\n"}
            return f"{number}", Turn(calls=(Call("write_to_file", arguments),))
    return f"{number}", Turn(text="All is written.")


def _document(status: int, body: bytes, more: bytes = b"") -> bytes:
    head = b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"
    return head % (status, len(body), more) + body


def _stream(data: bytes, *, whole: bool = True) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"%x\r\n%s\r\n" % (len(data), data) + (b"0\r\n\r\n" if whole else b"")


class Bench:
    """Runs of one batch. `is_small` tells if the disk of its home can be filled."""

    def __init__(self, halo: Halo, url: str, seed: int, *, is_small: bool) -> None:
        self._halo = halo
        self._random = Random(seed)
        self._kinds = ["kill", "kill", "full disk"] if is_small else ["kill"]
        self._words = ("-m", "openai/x", "--base-url", url, "--api-key", "k", "-y", "-j", "6", "--json")
        self._tasks = halo.root / "tasks.jsonl"
        items = [
            {
                "id": f"i{number}",
                "prompt": f"This is item {number}.",
                "folder": str(halo.folder),
                "accept": "false" if number % 4 == 0 else f"test $(ls new*.txt | wc -l) = {2 + number % 3}",
            }
            for number in range(ITEMS)
        ]
        self._tasks.write_text("".join(f"{json.dumps(item)}\n" for item in items))
        self.faults = Counter[str]()

    async def run(self, name: str, most: int = 0) -> dict[str, tuple[object, ...]]:
        """Run the batch to its end, with so many faults of ours at most; return what is reported of each item."""
        while True:
            process = await self._halo.start("batch", str(self._tasks), "--name", name, *self._words)
            reading = asyncio.create_task(process.communicate())
            while most > 0 and not reading.done():
                await asyncio.wait([reading], timeout=self._random.uniform(0.3, 3.0))
                if not reading.done():
                    most -= 1
                    self.faults[kind := self._random.choice(self._kinds)] += 1
                    if kind == "kill":
                        process.kill()
                    else:
                        await fill_disk(self._halo.home, self._random.uniform(0.2, 1.0))
            out, err = await asyncio.wait_for(reading, 300)
            if process.returncode in (0, 1) and out and (report := json.loads(out)).get("ended") == ITEMS:
                return {line["id"]: self._read_line(line) for line in report["lines"]}
            assert self.faults or most, err.decode()

    def _read_line(self, line: dict[str, Any]) -> tuple[object, ...]:
        outcome = line["outcome"]
        assert line["task"], line
        log = self._halo.home / "tasks" / line["task"] / codec.LOG_NAME
        assert_sound([codec.decode(event) for event in log.read_bytes().splitlines()])
        patch = Path(outcome["result"]).read_text() if outcome.get("result") else ""
        return (*(outcome.get(name) for name in COUNTED), patch)


async def fill_disk(folder: Path, seconds: float) -> None:
    filler = folder / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 65_536):
            pass
    await asyncio.sleep(seconds)
    filler.unlink(missing_ok=True)


@pytest.fixture
def small_home(halo: Halo) -> Iterator[bool]:
    """Put the home on a small disk of its own, if this process may; tell if it is there."""
    halo.home.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "halocline-test", str(halo.home)]
    is_there = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield is_there
    if is_there:
        subprocess.run(["umount", "-l", str(halo.home)], check=True)


@contextlib.asynccontextmanager
async def playing(seed: int) -> AsyncIterator[tuple[Provider, str]]:
    provider = Provider(seed)
    async with serving(provider.answer) as url:
        yield provider, url


async def test_a_batch_among_faults_reports_what_an_undisturbed_one_does(halo: Halo, small_home: bool) -> None:
    (halo.folder / "a.txt").write_text("wrong\n")
    for words in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(["git", *words.split()], cwd=halo.folder, check=True)
    seed = int(os.environ.get("SEED", "1"))
    async with playing(seed) as (provider, url):
        bench = Bench(halo, url, seed, is_small=small_home)
        undisturbed = await bench.run("calm")
        assert [line[0] for line in undisturbed.values()].count("passed") == ITEMS - ITEMS // 4
        provider.chance, run = 0.3, 0
        while (provider.faults + bench.faults).total() < FAULTS:
            run += 1
            found = await bench.run(f"faults{run}", most=3)
            differing = {id: (found.get(id), line) for id, line in undisturbed.items() if found.get(id) != line}
            assert not differing, f"seed {seed}, run {run}: {differing}"
            for left in ("batches", "checkpoints", "tasks"):  # or the small disk would be full for good
                shutil.rmtree(halo.home / left)
