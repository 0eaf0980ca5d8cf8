"""`halo web`, measured: `python -m benchmarks.web`, a table and an exit code.

A real server process and one page over a real WebSocket. The stream is a scripted model in the server itself, 200
deltas a second for ten seconds (a slow one: 30); the floor is the same task with no page looking. The long task has
2,000 calls.
"""

import asyncio
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.history import steps, write

RATE, SLOW, SECONDS, CALLS = 200, 30, 10, 2_000
PIECE = "abcdefgh"
LIMITS = {
    "server's CPU, % of a core": 10.0,
    "bytes a letter, slow model": 9.5,
    "2,000 calls told, ms": 1000.0,
    "ready, ms": 1500.0,
    "memory, MB": 100.0,
}
"""What each may be; the others are for comparison."""


class Served:
    """A server, and the time it took until it said where it is."""

    def __init__(
        self, process: asyncio.subprocess.Process, origin: str, session: tuple[str, str], ready: float
    ) -> None:
        self.process, self.origin, self.ready = process, origin, ready
        self.cookie, self.page_key = session

    @property
    def cpu(self) -> float:
        """Seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """Megabytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) / 1024

    @asynccontextmanager
    async def page(self) -> AsyncIterator[ClientConnection]:
        url = f"{self.origin.replace('http', 'ws', 1)}/live"
        headers = {"cookie": self.cookie}
        spoken = ["halocline", self.page_key]
        async with connect(
            url, origin=self.origin, additional_headers=headers, subprotocols=spoken, max_size=None, proxy=None
        ) as socket:
            yield socket


@asynccontextmanager
async def served(root: Path) -> AsyncIterator[Served]:
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "halocline", "web", "--no-open", "--port", "0"),
        cwd=root,
        env={"PATH": os.environ["PATH"], "HOME": str(root), "HALOCLINE_HOME": str(root / "home")},
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    found = re.search(r"(http://\S+?)/#(\S+)", (await process.stdout.readline()).decode())
    assert found
    ready = time.perf_counter() - began
    request = urllib.request.Request(f"{found[1]}/enter", found[2].encode(), {"origin": found[1]})
    answer = await asyncio.to_thread(urllib.request.urlopen, request)
    try:
        cookie, key = answer.headers["set-cookie"].partition(";")[0], json.load(answer)["key"]
        yield Served(process, found[1], (cookie, key), ready)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def begun(socket: ClientConnection, root: Path, rate: int) -> str:
    text = f'[[turn]]\ntext = "{PIECE * (rate * SECONDS)}"\nchunk = {len(PIECE)}\npace = {1 / rate}\n'
    (root / "script.toml").write_text(text)
    content = [{"type": "text", "text": "go"}]
    model = f"scripted/{root}/script.toml"
    wish = {"id": os.urandom(8).hex(), "workspace": str(root), "content": content, "model": model}
    await socket.send(json.dumps({"type": "begin", **wish}))
    while (frame := json.loads(await socket.recv())).get("id") != wish["id"]:
        pass
    return str(frame["value"])


async def until_rest(socket: ClientConnection, task: str) -> int:
    """Wait for the end of its turn; return how many bytes told of it."""
    told = 0
    while True:
        frame = json.loads(text := await socket.recv())
        told += len(text) if frame["type"] in ("task_changed", "grown") else 0
        if frame["type"] == "board" and frame["tasks"].get(task) == "rests":
            return told


async def streamed(server: Served, root: Path, rate: int, *, watched: bool) -> tuple[float, float]:
    """The server's CPU while a model writes, in percent of a core; the bytes that a letter costs the page."""
    async with server.page() as socket:
        task = await begun(socket, root, rate)
        if watched:
            await socket.send(json.dumps({"type": "watch", "task": task}))
        before, began = server.cpu, time.perf_counter()
        told = await until_rest(socket, task)
        share = (server.cpu - before) / (time.perf_counter() - began) * 100
        return share, told / (len(PIECE) * rate * SECONDS)


async def told(server: Served, task: str) -> float:
    """Milliseconds until a page had the rows of a long task that it shows first."""
    async with server.page() as socket:
        began = time.perf_counter()
        await socket.send(json.dumps({"type": "watch", "task": task}))
        while (frame := json.loads(await socket.recv()))["type"] != "task_changed" or frame["task"] != task:
            pass
        return (time.perf_counter() - began) * 1000


async def measured(root: Path) -> dict[str, float]:
    write(root / "home" / "tasks", "261101-000000-long", steps(random.Random(1), 1, CALLS), 1.79e9)
    async with served(root):
        pass  # byte code and caches are there afterwards
    async with served(root) as server:
        found = {"ready, ms": server.ready * 1000, "memory at first, MB": server.memory}
        found["CPU with no page looking, %"], _ = await streamed(server, root, RATE, watched=False)
        found["server's CPU, % of a core"], found["bytes a letter"] = await streamed(server, root, RATE, watched=True)
        _, found["bytes a letter, slow model"] = await streamed(server, root, SLOW, watched=True)
        found["2,000 calls told, ms"] = min([await told(server, "261101-000000-long") for _ in range(5)])
        found["memory, MB"] = server.memory
        began = time.perf_counter()
        async with server.page():
            server.process.terminate()
            await server.process.wait()
        found["end with a page open, ms"] = (time.perf_counter() - began) * 1000
    return found


def main() -> int:
    root = Path(tempfile.mkdtemp(prefix="halocline-web-"))
    try:
        found = asyncio.run(measured(root))
    finally:
        shutil.rmtree(root)
    print("| what | | limit | |\n| --- | ---: | ---: | --- |")
    for name, figure in found.items():
        limit = LIMITS.get(name)
        verdict = "" if limit is None else "met" if figure <= limit else "MISSED"
        print(f"| {name} | {figure:.3g} | {'' if limit is None else f'{limit:g}'} | {verdict} |")
    return int(any(figure > LIMITS.get(name, figure) for name, figure in found.items()))


if __name__ == "__main__":
    sys.exit(main())
