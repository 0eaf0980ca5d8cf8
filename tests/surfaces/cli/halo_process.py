"""The real command as a process of its own, with a home and a folder that nobody else uses."""

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from tests.servers.model_server import ModelServer
from tests.surfaces.cli.forked import HALO, Forked, start_halo
from tests.surfaces.cli.forked_terminal import LIMIT, HaloTerminal

from halocline.protocol import codec
from halocline.protocol.events import Durable
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.surfaces.cli.command_table import COMMANDS

CONVERSATIONS = ("attach", "explain", "fix", "improve")
"""Commands that show a live screen on a terminal."""


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def result(self) -> dict[str, Any]:
        return self.lines[-1]


class Halo:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.folder = root / "project"
        self.folder.mkdir()
        self._started: list[Process | Forked] = []
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "HALOCLINE_HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def script(self, *turns: Mapping[str, Any], name: str = "script") -> str:
        """A script of these turns; gives the name of its model."""
        path = self.root / f"{name}.toml"
        path.write_text("".join(f"[[turn]]\n{_table(turn)}\n" for turn in turns))
        return f"scripted/{path}"

    async def start(
        self, *words: str | bytes, stdin: int = DEVNULL, before: Sequence[str] = (), **more: Any
    ) -> Process | Forked:
        """Begin the command; `before` are the words of a program that runs it."""
        settings = {"stdin": stdin, "stdout": PIPE, "stderr": PIPE, "cwd": self.folder, **more}
        settings["env"] = self.env | settings.get("env", {})
        if before:
            process = await asyncio.create_subprocess_exec(*before, *HALO, *words, **settings)
        else:
            process = await start_halo(words, **settings)
        self._started.append(process)
        return process

    def clean_up(self) -> None:
        """End what a failed test left running."""
        for process in self._started:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGTERM)

    async def run(self, *words: str | bytes, stdin: bytes | None = None, **more: Any) -> Done:
        process = await self.start(*words, stdin=DEVNULL if stdin is None else PIPE, **more)
        return await ended(process, stdin)

    def terminal(self, *words: str, columns: int = 80, forks: bool = True) -> HaloTerminal:
        """The same on a pseudo-terminal, in lines, with a person (the test) before it."""
        command = words[:1] if words[:1] and words[0] in COMMANDS else ()
        lines = ("--plain",) if not command or command[0] in CONVERSATIONS else ()
        return HaloTerminal(
            [*command, *lines, *words[len(command) :]],
            env=self.env | {"PROMPT_TOOLKIT_NO_CPR": "1"},
            cwd=self.folder,
            size=(30, columns),
            forks=forks,
        )

    @property
    def tasks(self) -> list[str]:
        return sorted(path.parent.name for path in self.home.glob("tasks/*/events.jsonl"))

    def log(self, task: str = "") -> list[Durable]:
        """What is written of a task, or of the only one."""
        if not task:
            (task,) = self.tasks
        data = (self.home / "tasks" / task / codec.LOG_NAME).read_bytes()
        return [codec.decode(line) for line in data.splitlines()]

    def state(self, task: str = "") -> State:
        return fold_events(self.log(task))

    def raw_log(self, task: str = "") -> list[bytes]:
        return (self.home / "tasks" / (task or self.tasks[-1]) / codec.LOG_NAME).read_bytes().splitlines()


async def ended(process: Process | Forked, stdin: bytes | None = None) -> Done:
    async with asyncio.timeout(LIMIT):
        out, err = await process.communicate(stdin)
    assert process.returncode is not None
    return Done(process.returncode, (out or b"").decode(), err.decode())


async def line_with(process: Process | Forked, text: str) -> str:
    """Read the process's output up to a line that holds the text."""
    assert process.stdout is not None
    async with asyncio.timeout(LIMIT):
        while line := (await process.stdout.readline()).decode():
            if text in line:
                return line
    raise AssertionError(f"the process ended without {text!r}")


async def until_written(path: Path) -> str:
    """The text of a file, once there is some."""
    async with asyncio.timeout(LIMIT):
        while not (path.exists() and (text := path.read_text())):
            await asyncio.sleep(0.01)
    return text


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def shell(command: str, *, risky: bool = False) -> dict[str, Any]:
    return call("execute_command", command=command, requires_approval=risky)


def asks(server: ModelServer, vendor: str = "openai") -> Sequence[str]:
    """The flags that make `halo` talk to a server."""
    return ("-m", f"{vendor}/x", "--base-url", server.url(vendor), "--api-key", "k")


def _table(values: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())


def _toml(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case _:
            return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
