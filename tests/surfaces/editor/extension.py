"""An extension without an editor: it starts the real `halo editor`, shows a page, and writes down what it is told."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.surfaces.cli.forked import Forked, start_halo

MODULE = "halocline.surfaces.editor.server"
PATIENCE = 60.0
PAGE = "page-1"


class Refused(Exception):
    """The other side answered with an error."""


class Extension:
    """One connection. `told` holds the notifications in order, `frames` what the page was sent.

    `answers` are functions that answer requests, by method.
    """

    def __init__(self, process: asyncio.subprocess.Process | Forked) -> None:
        self.process = process
        self.unsaved: dict[str, str] = {}
        self.checked: list[str] = []
        self.terminals: object = []
        self.shown: object = None
        self.answers: dict[str, Callable[[Any], Any]] = {}
        self.is_silent = False
        self.told: list[tuple[str, Any]] = []
        self.frames: list[Any] = []
        self._numbers = count(1)
        self._news = asyncio.Condition()
        self._answers: dict[int, Any] = {}
        self._reading = asyncio.create_task(self._read())

    def write(self, message: Any) -> None:
        assert self.process.stdin
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b"\n")

    def notify(self, method: str, **params: Any) -> None:
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    async def ask(self, method: str, /, **params: Any) -> Any:
        number = next(self._numbers)
        self.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = await self.until(lambda: self._answers.get(number))
        if "error" in answer:
            raise Refused(answer["error"]["message"])
        return answer["result"]

    async def open_page(self) -> None:
        await self.ask("page/open", page=PAGE)
        await self.until(lambda: any(frame["type"] == "welcome" for frame in self.frames))

    async def page_asks(self, **frame: Any) -> Any:
        """Send a request of the page and return the value of its answer."""
        name = f"request {next(self._numbers)}"
        self.notify("page/message", page=PAGE, text=json.dumps({**frame, "id": name}))
        found = await self.until(lambda: next((one for one in self.frames if one.get("id") == name), None))
        if found["type"] == "refused":
            raise Refused(found["text"])
        return found["value"]

    async def begin(self, folder: Path, text: str, **more: Any) -> str:
        """Start a task with a prompt, and watch it."""
        content = [{"type": "text", "text": text}]
        task = await self.page_asks(type="begin", workspace=str(folder), content=content, **more)
        self.notify("page/message", page=PAGE, text=json.dumps({"type": "watch", "task": task}))
        return str(task)

    def rows(self, kind: str) -> list[Any]:
        """The rows of a kind that the page got, in order, each as often as it changed."""
        changes = (
            change for frame in self.frames if frame["type"] == "task_changed" for change in frame.get("rows", ())
        )
        return [change["row"] for change in changes if change["row"]["type"] == kind]

    def of(self, method: str) -> list[Any]:
        return [params for name, params in self.told if name == method]

    async def until(self, found: Callable[[], Any]) -> Any:
        """Wait until something is true of what came."""
        async with asyncio.timeout(PATIENCE), self._news:
            while not (value := found()):
                await self._news.wait()
        return value

    async def turn_ended(self) -> Any:
        return await self.until(lambda: next(iter(self.rows("turn_end_row")), None))

    def _answer(self, message: Any) -> Any:
        """Answer as an editor in which the files of `unsaved` are open, with these texts.

        Files of `checked` are checked: a line that holds "wrong" is.
        """
        if answer := self.answers.get(message["method"]):
            return answer(message["params"])
        if message["method"] == "problems/check":
            return self._check([path for path in message["params"]["paths"] if path in self.checked])
        if message["method"] == "problems/shown":
            return self.shown
        if message["method"] == "terminals/latest":
            return self.terminals
        path, text = message["params"]["path"], message["params"].get("text")
        if text is None or path not in self.unsaved:
            return self.unsaved.get(path) if text is None else False
        Path(path).write_text(text)
        self.unsaved[path] = text
        return True

    def _check(self, paths: list[str]) -> Any:
        lines = [(path, *line) for path in paths for line in enumerate(Path(path).read_text().splitlines(), 1)]
        wrong = [{"path": path, "line": n, "text": text} for path, n, text in lines if "wrong" in text]
        return {"paths": paths, "problems": [{**one, "message": "It is wrong.", "source": "test"} for one in wrong]}

    async def _read(self) -> None:
        assert self.process.stdout
        async for line in self.process.stdout:
            message = json.loads(line)
            async with self._news:
                if "method" not in message:
                    self._answers[message["id"]] = message
                elif "id" in message:
                    self.told.append((message["method"], message["params"]))
                    if not self.is_silent:
                        self.write({"jsonrpc": "2.0", "id": message["id"], "result": self._answer(message)})
                elif message["method"] == "page/message":
                    self.frames.append(json.loads(message["params"]["text"]))
                else:
                    self.told.append((message["method"], message["params"]))
                self._news.notify_all()


@asynccontextmanager
async def start_extension(root: Path, *folders: Path, **env: str) -> AsyncIterator[Extension]:
    """Start `halo editor` with a home below `root`."""
    base = {"PATH": os.environ["PATH"], "HOME": str(root), "HALOCLINE_HOME": str(root / "home"), "LANG": "C.UTF-8"}
    words = ("editor", *map(str, folders))
    process = await start_halo(words, env={**base, **env}, cwd=root, limit=2**26, modules=[MODULE])
    extension = Extension(process)
    try:
        yield extension
    finally:
        assert process.stdin
        process.stdin.close()
        await asyncio.wait_for(process.wait(), PATIENCE)
