"""A page as the server knows it: HTTP with a session, and a WebSocket; against the real `halo web` process."""

import asyncio
import itertools
import json
import re
from asyncio.subprocess import Process
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from tests.surfaces.cli.halo_process import Halo, line_with
from tests.surfaces.web.task_copy import TaskCopy
from websockets.asyncio.client import ClientConnection, connect

from halocline.surfaces.web.guard import PAGE_KEY, PROTOCOL

LIMIT = 30
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Server:
    """A running `halo web`. `key` is what stands behind the `#` of its address."""

    halo: Halo
    process: Process
    origin: str
    key: str

    @property
    def host(self) -> str:
        return self.origin.partition("://")[2]

    @property
    def socket_address(self) -> str:
        return f"{'wss' if self.origin.startswith('https') else 'ws'}://{self.host}/live"

    def http(self, **more: Any) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.origin, timeout=LIMIT, trust_env=False, **more)

    async def session(self) -> dict[str, str]:
        """The headers of a browser that was let in, and whose page asks."""
        async with self.http(headers={"origin": self.origin}) as http:
            answer = await http.post("/enter", content=self.key)
            assert answer.status_code == 200
            ((name, value),) = answer.cookies.items()
            return {"cookie": f"{name}={value}", PAGE_KEY: answer.json()["key"]}


@asynccontextmanager
async def serving(halo: Halo, *words: str, **more: Any) -> AsyncIterator[Server]:
    process = await halo.start("web", "--no-open", "--port", "0", *words, **more)
    try:
        line = await line_with(process, "Halocline is at")
        found = re.search(r"(https?://\S+?)/#(\S+)", line)
        assert found
        yield Server(halo, process, found[1], found[2])
    finally:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(LIMIT):
            await process.communicate()


@dataclass(slots=True)
class Page:
    """One WebSocket. What comes is taken in by `until`, and kept by kind."""

    socket: ClientConnection
    frames: list[dict[str, Any]] = field(default_factory=list)
    tasks: defaultdict[str, TaskCopy] = field(default_factory=lambda: defaultdict(TaskCopy))

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(LIMIT):
            frame: dict[str, Any] = json.loads(await self.socket.recv())
        self.frames.append(frame)
        if frame["type"] == "task_changed":
            self.tasks[frame["task"]].take(frame)
        if frame["type"] == "grown":
            next(copy for copy in self.tasks.values() if copy.view == frame["view"]).take(frame)
        return frame

    async def say(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def until(self, fits: Any) -> dict[str, Any]:
        """The next frame that fits."""
        while not fits(frame := await self.next()):
            pass
        return frame

    async def answer(self, kind: str, id: str = "", **fields: Any) -> dict[str, Any]:
        """Say something, and wait for what is answered."""
        id = id or f"id{next(_numbers)}"
        await self.say(kind, id=id, **fields)
        return await self.until(lambda frame: frame.get("id") == id)

    async def value(self, kind: str, **fields: Any) -> Any:
        answer = await self.answer(kind, **fields)
        assert answer["type"] == "answered", answer
        return answer.get("value")

    async def ask(self, name: str, /, **arguments: Any) -> Any:
        return await self.value("query", name=name, arguments=arguments)

    async def do(self, name: str, /, **arguments: Any) -> Any:
        return await self.value("do", name=name, arguments=arguments)

    async def begin(self, halo: Halo, text: str, **more: Any) -> str:
        content = [{"type": "text", "text": text}]
        task: str = await self.value("begin", workspace=str(halo.folder), content=content, **more)
        return task

    async def command(self, kind: str, task: str, **fields: Any) -> Any:
        return await self.value("command", command={"type": kind, "task": task, **fields})

    async def facts(self, task: str, fits: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The facts of a watched task, once they fit."""
        while not (self.tasks[task].view and fits(self.tasks[task].facts)):
            await self.next()
        return self.tasks[task].facts

    async def ended(self, task: str, turns: int = 1) -> dict[str, Any]:
        """The end of a watched task's newest turn, once so many have ended."""
        while len(self.tasks[task].of("turn_end_row")) < turns:
            await self.next()
        return self.tasks[task].of("turn_end_row")[-1]

    async def asked(self, task: str, after: str = "") -> dict[str, Any]:
        """What a watched task asks, but for a request before."""
        facts = await self.facts(task, lambda now: now["waiting"] and now["waiting"][0]["request"] != after)
        waiting: dict[str, Any] = facts["waiting"][0]
        return waiting

    async def decided(self, task: str) -> dict[str, Any]:
        """The newest decision of a watched task."""
        decision: dict[str, Any] = (await self.facts(task, lambda now: now["decided"]))["decided"][-1]
        return decision

    async def turn(self, task: str) -> dict[str, Any]:
        """Watch a task to the end of its first turn."""
        await self.say("watch", task=task)
        return await self.ended(task)


@asynccontextmanager
async def page(server: Server, session: Mapping[str, str] | None = None) -> AsyncIterator[Page]:
    async with live(server, session or await server.session()) as socket:
        yield Page(socket)


def live(server: Server, session: Mapping[str, str]) -> connect:
    """The WebSocket of a page with this session, or with a part of one."""
    return connect(
        server.socket_address,
        origin=server.origin,  # type: ignore[arg-type]
        additional_headers={name: value for name, value in session.items() if name != PAGE_KEY},
        subprotocols=[PROTOCOL, session[PAGE_KEY]] if PAGE_KEY in session else [PROTOCOL],  # type: ignore[list-item]
        max_size=None,
        proxy=None,
    )
