"""Public MCP servers, of six SDKs in four languages, and what each is asked in the test of all."""

import asyncio
import os
import signal
import socket
from asyncio.subprocess import DEVNULL, Process
from dataclasses import dataclass, field
from pathlib import Path

from tests.mcp.set_up import program, search_path

from halocline.protocol.values import JsonObject

_MARK = "HALOCLINE_TESTED_FROM"
_SHEET = {"fileAbsolutePath": "{folder}/a.xlsx", "sheetName": "One"}
_GRAPH = {"entities": [{"name": "tide", "entityType": "word", "observations": ["turns twice a day"]}]}


@dataclass(frozen=True)
class Public:
    """`calls` are tools with arguments and words of their results; the server refuses the last.

    `url` is the path of a server that is reached over HTTP, on `{port}`; others are started by the task.
    """

    words: tuple[str, ...]
    calls: tuple[tuple[str, JsonObject, str], ...]
    url: str = ""


SERVERS = {
    "memory": Public(
        ("mcp-server-memory",),
        (
            ("create_entities", _GRAPH, "turns twice"),
            ("search_nodes", {"query": "tide"}, "turns twice"),
            ("add_observations", {"observations": [{"entityName": "ebb", "contents": ["x"]}]}, "ebb"),
        ),
    ),
    "git": Public(
        ("git-mcp-server",),
        (
            ("git_status", {"path": "{folder}"}, "a.xlsx"),
            ("git_log", {"path": "{folder}"}, "a first commit"),
            ("git_show", {"path": "{folder}", "object": "nowhere"}, "nowhere"),
        ),
    ),
    "excel": Public(
        ("excel-mcp-server",),
        (
            (
                "excel_write_to_sheet",
                {**_SHEET, "newSheet": False, "range": "A1:B1", "values": [[7, "ebb"]]},
                "ebb",
            ),
            ("excel_read_sheet", _SHEET, "ebb"),
            ("excel_read_sheet", {**_SHEET, "sheetName": "Two"}, "Two"),
        ),
    ),
    "azure": Public(
        ("azmcp", "server", "start"),
        (
            ("bicepschema", {"intent": "look", "learn": True}, "resource-type"),
            ("get_azure_bestpractices", {"intent": "look", "learn": True}, "general"),
            ("subscription_list", {}, "Authentication failed"),
        ),
    ),
    "kubernetes": Public(
        ("kubernetes-mcp-server", "--kubeconfig", "{folder}/kube.yaml", "--port", "{port}"),
        (
            ("configuration_view", {"minified": False}, "http://127.0.0.1:9"),
            ("configuration_view", {}, "near"),
            ("pods_list", {}, "connection refused"),
        ),
        "/mcp",
    ),
    "duck": Public(
        (
            *("mcp-server-motherduck", "--db-path", ":memory:", "--read-write"),
            *("--transport", "http", "--port", "{port}"),
        ),
        (
            ("list_databases", {}, "memory"),
            ("execute_query", {"sql": "select 6 * 7"}, "42"),
            ("execute_query", {"sql": "select nothing"}, "BinderException"),
        ),
        "/mcp",
    ),
    "browser": Public(
        (
            *("playwright-mcp", "--headless", "--executable-path", "/usr/bin/chromium", "--no-sandbox"),
            *("--isolated", "--output-dir", "{folder}/shown", "--port", "{port}"),
        ),
        (
            ("browser_navigate", {"url": "data:text/html,<title>Tides</title><p>Ebb"}, "Tides"),
            ("browser_take_screenshot", {}, "Screenshot"),
            ("browser_click", {"element": "nothing", "target": "e99"}, "e99"),
        ),
        "/sse",
    ),
}


@dataclass
class Running:
    """A server beside one task: its entry in `mcp.json`, and its processes."""

    server: Public
    folder: Path
    home: Path
    port: int = field(default_factory=lambda: _find_port())
    _started: list[Process] = field(default_factory=list)

    @property
    def entry(self) -> JsonObject:
        if self.server.url:
            return {"url": f"http://localhost:{self.port}{self.server.url}"}
        command, *words = self._words
        return {"command": command, "args": words, "env": self._env, "startTimeout": 60}

    def fill(self, text: str) -> str:
        return text.replace("{folder}", str(self.folder)).replace("{port}", str(self.port))

    async def start(self) -> None:
        """Start a server that is reached over HTTP, and wait until it is."""
        if not self.server.url:
            return
        silent = {"stdin": DEVNULL, "stdout": DEVNULL, "stderr": DEVNULL}
        self._started.append(await asyncio.create_subprocess_exec(*self._words, env=self._env, **silent))
        waiting = await asyncio.create_subprocess_exec("bash", "-c", self.wait_command)
        await asyncio.wait_for(waiting.wait(), 60)

    @property
    def wait_command(self) -> str:
        """A command that waits until the server is reached."""
        return f"until (< /dev/tcp/localhost/{self.port}) 2> /dev/null; do sleep 0.1; done" if self.server.url else ":"

    def kill(self) -> None:
        """Kill the server with all that it started."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if f"{_MARK}={self.folder}\0".encode() in (process / "environ").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                continue

    async def end(self) -> None:
        self.kill()
        for process in self._started:
            await process.wait()

    @property
    def _words(self) -> list[str]:
        return [str(program(self.server.words[0])), *map(self.fill, self.server.words[1:])]

    @property
    def _env(self) -> dict[str, str]:
        graph = {"MEMORY_FILE_PATH": str(self.folder / "graph.jsonl")}
        return {"HOME": str(self.home), "PATH": search_path(), _MARK: str(self.folder), **graph}


def _find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]
