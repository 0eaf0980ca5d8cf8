"""Memory of an idle agent: `python -m benchmarks.agent_memory [AGENTS]`.

A task starts so many agents in the background, and a home's background process gets so many tasks. Each reads a file,
runs a command, and then waits for its model, which does not answer any more. Memory is what the process and all that it
started add to those without agents (proportional set sizes), while the keepers of the commands are there and after they
have gone. The floor is one process with as many conversations that wait on a connection each, and nothing else.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.workspace import make_template

AGENTS, KEPT, GONE = 40, 3.0, 27.0
"""Agents of the larger run, and seconds after which memory is read: before and after the keepers end."""
LIMIT = 6.0
"""MB that an idle agent or task may take."""
_MB = 1 << 20
_SETTINGS = """model = "deepseek/deepseek-v4-pro"
subagents = "on"
sandbox = "off"
subagents_at_once = 1000
subagent_seconds = 3000
"""
_CHILD = (
    ("read_file", {"path": "README.md"}),
    ("execute_command", {"command": "echo hello", "requires_approval": False}),
)


class WaitingModel:
    """Answers until every agent has done its work; then it is silent."""

    def __init__(self, agents: int) -> None:
        self._waiting = asyncio.Semaphore(0)
        self._agents = agents

    async def wait_for(self, agents: int) -> None:
        """Wait until the requests of so many agents wait."""
        for _ in range(agents):
            await self._waiting.acquire()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().lower().splitlines()
                size = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)
                body = await reader.readexactly(size)
                if not head.startswith(b"POST"):
                    writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                    continue
                calls = self._choose_calls(json.loads(body)["messages"])
                if not calls:
                    self._waiting.release()
                    with suppress(asyncio.CancelledError):  # the measurement is over
                        await reader.read()
                    return
                writer.write(_encode_reply(calls))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _choose_calls(self, messages: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
        results = sum(message["role"] == "tool" for message in messages)
        if "LEAD" not in json.dumps([message for message in messages if message["role"] == "user"]):
            return [*_CHILD[results : results + 1]]
        if results:
            return []
        words = {"prompt": "Work, then wait.", "background": True}
        return [("spawn_agent", {"name": f"agent {at}", **words}) for at in range(self._agents)]


def _encode_reply(calls: list[tuple[str, dict[str, Any]]]) -> bytes:
    made = [
        {"index": at, "id": f"call_{time.monotonic_ns()}_{at}", "type": "function"}
        | {"function": {"name": name, "arguments": json.dumps(arguments)}}
        for at, (name, arguments) in enumerate(calls)
    ]
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": made}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}},
    ]
    data = b"".join(b"data: %s\n\n" % json.dumps({"id": "x", "model": "x", **one}).encode() for one in chunks)
    data += b"data: [DONE]\n\n"
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%s" % (len(data), data)


@contextmanager
def _make_home(port: int) -> Iterator[tuple[Path, dict[str, str]]]:
    with tempfile.TemporaryDirectory(prefix="halocline-agents-") as place:
        root = Path(place)
        make_template(root / "project", notes=30)
        (root / "project" / "README.md").write_text("hello\n" * 200)
        (root / "home").mkdir()
        (root / "home" / "settings.toml").write_text(_SETTINGS)
        env = {"PATH": os.environ["PATH"], "HOME": place, "HALOCLINE_HOME": str(root / "home"), "LANG": "C.UTF-8"}
        yield root, env | {"HALOCLINE_BASE_URL": f"http://127.0.0.1:{port}/v1", "DEEPSEEK_API_KEY": "k"}


async def measure(kind: str, agents: int) -> tuple[float, float]:
    """Return the bytes of a process with so many agents and of all that it started, early and late."""
    model = WaitingModel(agents)
    server = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with _make_home(port) as (root, env):
        wanted = agents + (kind != "floor")
        start = {"agents": _start_lead, "tasks": _start_tasks, "floor": _start_floor}[kind]
        pid = await start(root, env, agents, port)
        try:
            async with asyncio.timeout(600):
                await model.wait_for(wanted)
            await asyncio.sleep(KEPT)
            early = _sum_memory(pid)
            await asyncio.sleep(0 if kind == "floor" else GONE)
            return early, _sum_memory(pid)
        finally:
            os.kill(pid, 9)
            server.close()


async def _start_lead(root: Path, env: dict[str, str], agents: int, port: int) -> int:
    """Start a task that starts the agents; without any it only waits."""
    return (await _run_halo(root, env, "run", "-p", "-y", "LEAD")).pid


async def _start_tasks(root: Path, env: dict[str, str], agents: int, port: int) -> int:
    """Hand the tasks over, one more than wanted: without any there is no process."""
    for number in range(agents + 1):
        assert await (await _run_halo(root, env, "run", "--bg", "-y", f"task {number}")).wait() == 0
    return int((root / "home" / "background" / "lock").read_text().split()[0])


async def _start_floor(root: Path, env: dict[str, str], agents: int, port: int) -> int:
    command = (sys.executable, "-m", "benchmarks.agent_memory", "floor", str(agents), str(port))
    process = await asyncio.create_subprocess_exec(*command)
    return process.pid


async def _run_halo(root: Path, env: dict[str, str], *words: str) -> asyncio.subprocess.Process:
    nowhere = asyncio.subprocess.DEVNULL
    streams = {"stdin": nowhere, "stdout": nowhere, "stderr": nowhere}
    command = (sys.executable, "-m", "halocline", *words)
    return await asyncio.create_subprocess_exec(*command, cwd=root / "project", env=env, **streams)


async def wait_for_model(agents: int, port: int) -> None:
    """Be the floor: hold so many conversations, each of which waits for an answer."""
    held = []
    for number in range(agents):
        messages = [{"role": "user", "content": f"task {number} " + "word " * 2000}]
        messages += [{"role": "tool", "tool_call_id": str(at), "content": "hello\n" * 200} for at in range(2)]
        body = json.dumps({"messages": messages}).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        held.append((messages, reader, writer))
    await asyncio.gather(asyncio.Event().wait(), *(reader.read() for _, reader, _ in held))


def _sum_memory(pid: int) -> float:
    return sum(map(_read_memory, _list_tree(pid)))


def _read_memory(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def _list_tree(pid: int) -> list[int]:
    try:
        threads = [*Path(f"/proc/{pid}/task").iterdir()]
        children = [int(child) for one in threads for child in (one / "children").read_text().split()]
    except OSError:
        children = []
    return [pid, *(below for child in children for below in _list_tree(child))]


async def compare(agents: int) -> int:
    """Print what each of so many agents takes; 1 if one takes too much."""
    figures = {}
    for kind in ("floor", "agents", "tasks"):
        none, some = await measure(kind, 0), await measure(kind, agents)
        figures[kind] = [(many - few) / agents / _MB for few, many in zip(none, some, strict=True)]
    print(f"| MB, of {agents} each | floor | an agent of a task | a task of the background process |")
    print("| --- | --- | --- | --- |")
    for at, when in enumerate(("just after a command", "idle")):
        print(f"| {when} | {' | '.join(f'{figures[kind][at]:.3g}' for kind in figures)} |")
    return int(max(figures[kind][1] for kind in figures) > LIMIT)


if __name__ == "__main__":
    if sys.argv[1:2] == ["floor"]:
        asyncio.run(wait_for_model(*map(int, sys.argv[2:4])))
    else:
        sys.exit(asyncio.run(compare(int(sys.argv[1]) if sys.argv[1:] else AGENTS)))
