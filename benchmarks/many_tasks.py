"""Many tasks in one process: `python -m benchmarks.many_tasks [TASKS [MODEL_SECONDS]]`.

Each task works in a git repository of its own, reads, edits and runs commands in turn, with checkpoints, log and policy
on. The model is a server in another process, which waits MODEL_SECONDS before each answer; all tasks begin at once. A
run counts only if every result and every file is as it should be.

How long a callback blocks the loop is measured in CPU time of its thread, so that other processes do not count; so is a
step, of this process alone. Memory is what the tasks add, each counted
with its share of the keepers (the processes that start commands).
"""

import asyncio
import gc
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.scenarios import SCENARIOS
from benchmarks.server import Exchange, ModelServer, problems_of
from benchmarks.session import PROMPT, ROOT
from benchmarks.workspace import copy_fresh, make_template, missing_work
from halocline.__main__ import GARBAGE
from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import Client, open_client
from halocline.protocol import commands as cmd
from halocline.protocol.events import TurnEnded
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Text

SCENARIO = SCENARIOS["S2-few"]
TASKS, MODEL_SECONDS = 200, 1.0
SERVE = "serve"
_LONG = 0.02
_MS, _MB = 1e3, 1 << 20
_FILES = 30
"""Notes that stay in each repository; the scenario reads none."""


class Crowd(ModelServer):
    """Answers many conversations: which answer is due is told by the results that a request brings along."""

    def __init__(self, latency: float) -> None:
        super().__init__(SCENARIO, latency)
        self.gaps: list[float] = []
        self._answered = threading.local()

    def _answer(self, connection: Any, exchange: Exchange, target: bytes, body: bytes) -> None:
        if not target.startswith(b"POST /v1/chat/completions "):
            super()._answer(connection, exchange, target, body)
            return
        results = [message for message in json.loads(body)["messages"] if message["role"] == "tool"]
        self.report.problems += problems_of(SCENARIO, len(results), results)
        if results:
            self.gaps.append(exchange.arrived - self._answered.at)
        time.sleep(self._latency)
        connection.sendall(b"".join(self._answers[len(results)]))
        self._answered.at = time.monotonic()


def serve(latency: float) -> None:
    """Serve until standard input closes, then print the gaps in seconds and what was wrong."""
    server = Crowd(latency)
    threading.Thread(target=server.serve, daemon=True).start()
    print(server.port, flush=True)
    sys.stdin.read()
    print(json.dumps({"gaps": server.gaps, "problems": server.report.problems}))


@contextmanager
def watching_callbacks() -> Iterator[list[tuple[float, str]]]:
    """Note each callback of the loop: seconds of CPU time of the loop's thread, and what it was."""
    found: list[tuple[float, str]] = []
    run = asyncio.Handle._run

    def run_timed(handle: asyncio.Handle) -> None:
        whose, before = getattr(getattr(handle, "_callback", None), "__self__", handle), time.thread_time()
        run(handle)
        took = time.thread_time() - before
        found.append((took, repr(whose) if took > _LONG else ""))

    asyncio.Handle._run = run_timed
    try:
        yield found
    finally:
        asyncio.Handle._run = run


def watch_collections() -> list[float]:
    """Note how long each look for cycles takes, in CPU time of its thread; they are part of some callback."""
    found: list[float] = []
    began = [0.0]

    def note(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            began[0] = time.thread_time()
        else:
            found.append(time.thread_time() - began[0])

    gc.callbacks.append(note)
    return found


@dataclass(frozen=True)
class Result:
    """What a run took: seconds, bytes, and what was wrong."""

    seconds: float
    cpu: float
    memory: int
    keepers: int
    blocks: list[tuple[float, str]]
    gaps: list[float]
    problems: list[str]


async def run_tasks(client: Client, folders: list[Path]) -> tuple[float, float, int, int, list[tuple[float, str]]]:
    """Have each folder's task do the scenario; return seconds, CPU seconds, memory, that of keepers, and blocks."""
    options = TaskOptions(model="openai/bench", approval_mode=ApprovalMode.YOLO)
    before = _resident("self")
    names = [await client.start(folder, options) for folder in folders]
    began, spent = time.monotonic(), _own_cpu()
    with watching_callbacks() as blocks:
        await asyncio.gather(*(_converse(client, name) for name in names))
    await asyncio.sleep(0)  # what follows is this program's own, and no part of the callback that ends here
    seconds, cpu = time.monotonic() - began, _own_cpu() - spent
    memory, keepers = _resident("self") - before, sum(map(_resident, _children()))
    await client.close()
    return seconds, cpu, memory, keepers, blocks


async def _converse(client: Client, task: str) -> None:
    client.send(cmd.SubmitPrompt(task=task, content=(Text(PROMPT),)))
    async for event in client.events(task):
        if isinstance(event, TurnEnded):
            return


def measure(tasks: int, latency: float) -> Result:
    """Make the folders, run the tasks, and check what they did."""
    with tempfile.TemporaryDirectory(prefix="halocline-many-") as place, _serving(latency) as (port, server):
        root = Path(place)
        folders = _make_folders(root, tasks)
        os.environ |= {"HALOCLINE_HOME": str(root / "home"), "OPENAI_API_KEY": "bench", "HOME": str(root)}
        client = open_client(Choices(base_url=f"http://127.0.0.1:{port}/v1", unattended=True), "bench")
        measured = asyncio.run(run_tasks(client, folders))
        told = json.loads(server.communicate()[0])
        undone = [problem for folder in folders for problem in missing_work(SCENARIO, folder)]
        return Result(*measured, told["gaps"], [*told["problems"], *undone])


def _make_folders(root: Path, tasks: int) -> list[Path]:
    template = root / "template"
    make_template(template, notes=_FILES)
    folders = [root / f"work-{number}" for number in range(tasks)]
    for folder in folders:
        copy_fresh(template, folder)
    shutil.rmtree(template)
    return folders


@contextmanager
def _serving(latency: float) -> "Iterator[tuple[int, subprocess.Popen[str]]]":
    command = [sys.executable, "-m", "benchmarks.many_tasks", SERVE, str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline()), server
        finally:
            server.kill()


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _resident(process: str) -> int:
    """Bytes that a process has for itself, and its share of what it shares with others."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def _children() -> list[str]:
    return [child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()]


def main() -> int:
    if sys.argv[1:2] == [SERVE]:
        serve(float(sys.argv[2]))
        return 0
    gc.set_threshold(*GARBAGE)
    collections = watch_collections()
    tasks = int(sys.argv[1]) if sys.argv[1:] else TASKS
    latency = float(sys.argv[2]) if sys.argv[2:] else MODEL_SECONDS
    result = measure(tasks, latency)
    steps = tasks * (len(SCENARIO.calls) + 1)
    blocks = sorted(result.blocks)
    rows = {
        "steps a second": steps / result.seconds,
        "CPU a step, ms": result.cpu / steps * _MS,
        "gap, median, ms": median(result.gaps) * _MS,
        "gap, 95th percentile, ms": quantiles(result.gaps, n=20)[-1] * _MS,
        "memory a task, MB": result.memory / tasks / _MB,
        "… of its keeper, MB": result.keepers / tasks / _MB,
        "a callback of the loop, 99th percentile, ms of CPU": quantiles([took for took, _ in blocks], n=100)[-1] * _MS,
        "… the longest": blocks[-1][0] * _MS,
        "… a look for cycles, the longest": max(collections, default=0.0) * _MS,
        "… how many took more than 20 ms": sum(took > _LONG for took, _ in blocks),
    }
    print(f"{tasks} tasks, {steps} steps, model {latency:g} s", *result.problems[:5], sep="\n")
    print("\n".join(f"| {name} | {value:.3g} |" for name, value in rows.items()))
    print(*(f"{took * _MS:.0f} ms: {what}" for took, what in blocks[-5:] if what), sep="\n")
    return int(bool(result.problems))


if __name__ == "__main__":
    sys.exit(main())
