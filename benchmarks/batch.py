"""The cost of many tasks at once: `python -m benchmarks.batch [--tasks 200]`. Scripted models, real tools.

Each task has 13 steps: reads, edits, commands, a report. Its floor is the same task alone in the same process: CPU time
of a step, children included, and the gap between a reply and the next request. Then the same number of tasks wait for
their models: memory of an idle task, child processes included. Work of one piece on the event loop is CPU time.
"""

import argparse
import asyncio
import gc
import os
import resource
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from statistics import median, quantiles

from benchmarks.many_tasks import watching_callbacks
from halocline.batch.items import Item, PlaceKind
from halocline.batch.places import LocalPlaces
from halocline.batch.purse import Purse
from halocline.batch.queue import Queue
from halocline.batch.run import Batch
from halocline.batch.work import GARBAGE, THREADS, Clients, Manner, Worker
from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import open_client
from halocline.ports.model import ModelEvent, Request
from halocline.protocol.kinds import ApprovalMode
from halocline.surfaces.event_loop import run_loop
from halocline.testing import Call, Scripted, Turn

STEPS = 13
GOALS = {"cpu": 1.3, "gap": 10.0, "memory": 3.0, "block": 50.0}
TURNS = (
    *(Turn(calls=(Call("read_file", {"path": "a.py"}),)) for _ in range(4)),
    *(Turn(calls=(Call("write_to_file", {"path": f"new{n}.py", "content": f"x = {n}\n"}),)) for n in range(4)),
    *(Turn(calls=(Call("execute_command", {"command": f"echo {n} >> log"}),)) for n in range(4)),
    Turn("All is done."),
)


class Clocked:
    """A scripted model of one task that notes when it was asked and had answered; it `waits` seconds before each."""

    def __init__(self, name: str, waits: float = 0.0) -> None:
        self.name = name
        self._script = Scripted(TURNS, name)
        self._waits = waits
        self.asked = list[float]()
        self.answered = list[float]()

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent]:
        self.asked.append(time.monotonic())
        await asyncio.sleep(self._waits)
        async for event in self._script.stream(request):
            yield event
        self.answered.append(time.monotonic())

    async def close(self) -> None:
        return None

    @property
    def gaps(self) -> list[float]:
        return [after - before for before, after in zip(self.answered, self.asked[1:], strict=False)]


class Bench:
    """Batches in one process, below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    async def run(self, tasks: int, waits: float = 0.0, hold: float = 0.0) -> tuple[list[Clocked], int]:
        """Run tasks at once; return their models and, with `hold`, the bytes of all processes after so many seconds."""
        self._count += 1
        name = f"b{self._count}"
        models = [Clocked(f"scripted/{name}-{number}", waits) for number in range(tasks)]
        items = [self._make_item(f"i{number}", name, model.name) for number, model in enumerate(models)]
        options = TaskOptions(approval_mode=ApprovalMode.YOLO)
        manner = Manner(Choices(unattended=True), options)

        def make(choices, client, is_watched, folder):
            opened = open_client(choices, client, is_watched, folder)
            for model in models:
                opened.attach_model(model)
            return opened

        with Queue(self._folder / "batches" / name) as queue:
            await queue.add(items)
            clients = Clients(manner, self._folder, make)
            places = LocalPlaces(self._folder / "places" / name, queue.folder, os.environ, clients.closes_network)
            worker = Worker(queue, places, clients, manner, Purse(None))
            batch = Batch(queue, worker, at_once=tasks)
            running = asyncio.create_task(batch.run())
            size = 0
            if hold:
                await asyncio.sleep(hold)
                size = measure_memory()
                batch.stop()
            await running
            if not hold:
                ends = {(one.outcome.ending, one.outcome.calls) for one in queue.items.values() if one.outcome}
                assert ends == {("passed", STEPS - 1)}
                assert all((self._folder / "work" / name / item.id / "log").exists() for item in items)
        return models, size

    def _make_item(self, id: str, batch: str, model: str) -> Item:
        folder = self._folder / "work" / batch / id
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("print(1)\n" * 40)
        return Item(id, "do it", folder=str(folder), place=PlaceKind.FOLDER, model=model)


def measure_memory() -> int:
    """Return the proportional bytes of this process and all its descendants."""
    gc.collect()
    total, todo = 0, [os.getpid()]
    while todo:
        number = todo.pop()
        try:
            rollup = Path(f"/proc/{number}/smaps_rollup").read_text()
            todo += [int(one) for one in Path(f"/proc/{number}/task/{number}/children").read_text().split()]
        except OSError:
            continue
        total += 1024 * int(rollup.partition("\nPss:")[2].split()[0])
    return total


def cpu_time() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


async def measure(bench: Bench, tasks: int) -> None:
    await bench.run(2)
    before = measure_memory()  # before other tasks leave memory that these would use again
    _, held = await bench.run(tasks, waits=3600, hold=30.0)
    began = cpu_time()
    alone = [(await bench.run(1))[0][0] for _ in range(8)]
    lone = (cpu_time() - began) / (8 * STEPS)
    began, clock = cpu_time(), time.monotonic()
    models, _ = await bench.run(tasks)
    many, took = (cpu_time() - began) / (tasks * STEPS), time.monotonic() - clock
    gc.collect()  # a process has one batch: what the ones before left is none of its own
    with watching_callbacks() as pieces:  # this costs a fifth, so it is a run of its own
        await bench.run(tasks)
    gaps, lone_gaps = [gap for one in models for gap in one.gaps], [gap for one in alone for gap in one.gaps]
    p95, lone_p95 = quantiles(gaps, n=20)[-1], quantiles(lone_gaps, n=20)[-1]
    rows = {
        "tasks": tasks,
        "seconds": took,
        "CPU of a step alone, ms": lone * 1000,
        "CPU of a step among all, ms": many * 1000,
        f"… beside alone (goal {GOALS['cpu']})": many / lone,
        "gap alone, median and p95, ms": (median(lone_gaps) * 1000, lone_p95 * 1000),
        "gap among all, median and p95, ms": (median(gaps) * 1000, p95 * 1000),
        f"… p95 beside alone (goal {GOALS['gap']})": p95 / lone_p95,
        f"longest work of one piece on the loop, ms (goal {GOALS['block']})": max(took for took, _ in pieces) * 1000,
        f"memory of a task whose model thinks, MB (goal {GOALS['memory']})": (held - before) / tasks / 1e6,
    }
    for name, value in rows.items():
        print(f"| {name} | {value if isinstance(value, int) else format_value(value)} |")


def format_value(value: float | tuple[float, ...]) -> str:
    return " / ".join(f"{one:.2f}" for one in (value if isinstance(value, tuple) else (value,)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200)
    arguments = parser.parse_args()
    gc.set_threshold(*GARBAGE)  # as the command does
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HALOCLINE_HOME"] = f"{folder}/home"
        run_loop(measure(Bench(Path(folder)), arguments.tasks), THREADS)


if __name__ == "__main__":
    main()
