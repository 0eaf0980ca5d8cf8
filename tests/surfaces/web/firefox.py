"""A real Firefox, driven by WebDriver BiDi over its own WebSocket: Playwright drives only a Firefox that it patched."""

import asyncio
import itertools
import json
import re
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from halocline.hosts.executables import find_program

FOUND = find_program("firefox-esr") or find_program("firefox")
LIMIT = 60


class Firefox:
    """One page. `problems` are the errors and warnings of its console."""

    def __init__(self, socket: ClientConnection) -> None:
        self.problems: list[str] = []
        self._socket = socket
        self._numbers = itertools.count(1)
        self._context = ""

    async def begin(self) -> None:
        await self._ask("session.new", capabilities={})
        await self._ask("session.subscribe", events=["log.entryAdded"])
        self._context = (await self._ask("browsingContext.getTree"))["contexts"][0]["context"]

    async def go(self, address: str) -> None:
        await self._ask("browsingContext.navigate", context=self._context, url=address, wait="interactive")

    async def value(self, expression: str) -> dict[str, Any]:
        """What a script gives, as BiDi writes it."""
        target = {"context": self._context}
        answer = await self._ask("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert answer["type"] == "success", answer
        return answer["result"]

    async def until(self, condition: str) -> None:
        """Wait until an expression is true."""
        async with asyncio.timeout(LIMIT):
            while not (await self.value(f"Boolean({condition})"))["value"]:
                await asyncio.sleep(0.1)

    async def press(self, selector: str) -> None:
        """Press the first element that fits, with a mouse, once it is there and can be pressed."""
        await self.until(f"document.querySelector({json.dumps(selector)})")
        found = await self.value(f"document.querySelector({json.dumps(selector)})")
        origin = {"type": "element", "element": {"sharedId": found["sharedId"]}}
        steps = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        await self._act({"type": "pointer", "id": "mouse", "actions": steps})

    async def type(self, text: str) -> None:
        """Type into what has the focus; a line's end is Enter."""
        letters = [char.replace("\n", "\ue007") for char in text]
        steps = [{"type": kind, "value": char} for char in letters for kind in ("keyDown", "keyUp")]
        await self._act({"type": "key", "id": "keys", "actions": steps})

    async def _act(self, device: dict[str, Any]) -> None:
        await self._ask("input.performActions", context=self._context, actions=[device])

    async def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        id = next(self._numbers)
        await self._socket.send(json.dumps({"id": id, "method": method, "params": params}))
        async with asyncio.timeout(LIMIT):
            while True:
                said = json.loads(await self._socket.recv())
                if said.get("id") == id:
                    assert said["type"] == "success", said
                    return said["result"]
                if said.get("method") == "log.entryAdded" and said["params"]["level"] in ("warn", "error"):
                    self.problems.append(said["params"]["text"])


@asynccontextmanager
async def firefox(folder: Path) -> AsyncIterator[Firefox]:
    """A Firefox with a profile of its own in `folder`."""
    folder.mkdir()
    process = await asyncio.create_subprocess_exec(
        *(FOUND, "--headless", "--no-remote", "--profile", str(folder), "--remote-debugging-port", "0", "about:blank"),
        env={"HOME": str(folder), "PATH": "/usr/bin:/bin", "MOZ_HEADLESS": "1"},
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=PIPE,
    )
    assert process.stderr
    try:
        async with asyncio.timeout(LIMIT):
            while not (found := re.search(rb"listening on (ws://\S+)", await process.stderr.readline())):
                assert process.returncode is None
        reading = asyncio.create_task(process.stderr.read())
        async with connect(found[1].decode() + "/session", max_size=None, proxy=None) as socket:
            page = Firefox(socket)
            await page.begin()
            yield page
        process.terminate()
        await reading
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
