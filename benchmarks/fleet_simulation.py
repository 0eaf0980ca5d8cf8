"""A batch on a thousand nodes, on paper: `python -m benchmarks.fleet_simulation` prints what docs/design/scale.md has.

What the driver takes is measured first, by its own code with hosts in this process that always have news. With that, a
simulation runs the batch: nodes that run steps, a provider that takes so many requests a minute, and drivers that are
one thread each. How long models think is assumed.
"""

import argparse
import asyncio
import heapq
import math
import random
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from halocline.batch.fleet import messages
from halocline.batch.fleet.fleet import Fleet
from halocline.batch.fleet.messages import Answer, Channel, Hello, Lease, Orders, Piece, Result
from halocline.batch.items import Item
from halocline.batch.purse import Purse
from halocline.batch.queue import Ending, Outcome, Queue
from halocline.batch.run import Batch
from halocline.batch.work import THREADS
from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.store.paths import Home
from halocline.surfaces.event_loop import run_loop

THINKING = 10.0
"""Seconds that a model thinks about a step: the median of a lognormal, assumed."""
SIGMA = 0.8
GATHER = 0.5
"""Seconds in which a host gathers news for one answer: `halocline.batch.fleet.host`."""


LINE = b'{"type":"x"}' + b" " * 1_987 + b"\n"
"""What a step adds to the log: 2 kB."""
COLUMNS = (
    "case",
    "minutes",
    "ideal beside it",
    "driver busy",
    "answers a second",
    "log behind, p95 s",
    "requests a minute",
    "MB of log a second",
    "GB of log",
)


@dataclass(frozen=True)
class Costs:
    """CPU seconds of the driver: for an answer and its orders, for a step in it with its line of log, and for an item.

    An item is begun and ended in the queue, and the copy of its log is opened and closed.
    """

    answer: float
    step: float
    item: float


@dataclass(frozen=True)
class Case:
    name: str
    nodes: int = 1_000
    tasks: int = 100_000
    at_once: int = 100
    steps: int = 13
    drivers: int = 1
    per_minute: float = math.inf


CASES = (
    Case("10 nodes, 1,000 tasks", nodes=10, tasks=1_000),
    Case("100 nodes, 10,000 tasks", nodes=100, tasks=10_000),
    Case("1,000 nodes, 100,000 tasks"),
    Case("the same, tasks of one step", steps=1),
    Case("the same, a provider of 4,000 requests a minute", per_minute=4_000),
    Case("the same, a provider of 100,000 requests a minute", per_minute=100_000),
    Case("the same, 10 drivers (--shard), 100 nodes each", drivers=10),
)


class BusyHost:
    """A host that always has news: a line of some of its tasks in each answer, and their ends after `steps` lines."""

    def __init__(self, name: str, pieces: int, steps: int) -> None:
        self.spent = 0.0
        """Seconds of CPU that it took itself."""
        self.answers = 0
        self._name = name
        self._pieces = pieces
        self._steps = steps
        self._known: dict[str, int] = {}

    async def hello(self) -> bytes:
        return messages.encode(Hello(self._name, "session", self._name))

    async def exchange(self, orders: bytes) -> bytes:
        began = time.thread_time()
        answer = self._answer(messages.decode(orders, Orders).leases)
        data = messages.encode(answer)
        self.answers += 1
        self.spent += time.thread_time() - began
        await asyncio.sleep(0 if answer.pieces else GATHER)  # as the real one, it waits for news
        return data

    def _answer(self, leases: tuple[Lease, ...]) -> Answer:
        self._known = {lease.name: self._known.get(lease.name, 0) for lease in leases}
        going = [lease for lease in leases if self._known[lease.name] < self._steps]
        news = sorted(going, key=lambda lease: self._known[lease.name])[: self._pieces]
        for lease in news:
            self._known[lease.name] += 1
        done = [name for name, lines in self._known.items() if lines >= self._steps]
        return Answer(
            "session",
            tuple(self._known),
            tuple(Piece(lease.name, lease.have, LINE) for lease in news),
            costs={lease.name: 0.01 for lease in news},
            results=tuple(Result(name, Outcome(Ending.PASSED)) for name in done),
        )


class BusyNodes:
    def __init__(self, hosts: list[BusyHost]) -> None:
        self._new: list[Channel] = [*hosts]

    async def find_new(self) -> list[Channel]:
        new, self._new = self._new, []
        return new

    async def close(self) -> None:
        return None


async def run_driver(folder: Path, hosts: int, at_once: int, tasks: int, pieces: int, steps: int) -> tuple[float, int]:
    """Return the CPU seconds of a driver that runs so many tasks on busy hosts, and how many answers it took."""
    busy = [BusyHost(f"host{number}", pieces, steps) for number in range(hosts)]
    client = open_client(Choices(unattended=True), "batch", lambda: False, folder, home=Home(folder / "home"))
    client.home.tasks.mkdir(parents=True, exist_ok=True)
    with Queue(folder / "batch") as queue:
        await queue.add([Item(f"i{number}", "do it", folder="/tmp") for number in range(tasks)])
        fleet = Fleet(queue, BusyNodes(busy), client, Purse(None), 600.0, hosts * at_once)
        await fleet.open()
        began = time.process_time()
        await Batch(queue, fleet, at_once=hosts * at_once).run()
        took = time.process_time() - began
    return took - sum(host.spent for host in busy), sum(host.answers for host in busy)


def measure_costs(folder: Path, call: float) -> Costs:
    """Measure by three runs what the driver takes for an answer, for a step in it and for an item."""
    rows, took = [], []
    for name, pieces, tasks, steps in (("few", 1, 200, 40), ("many", 20, 400, 40), ("short", 20, 2_000, 2)):
        (place := folder / name).mkdir()
        seconds, answers = run_loop(run_driver(place, 10, 20, tasks, pieces, steps), THREADS)
        rows.append([float(answers), float(tasks * steps), float(tasks)])
        took.append(seconds)
    answer, piece, item = solve(rows, took)
    return Costs(answer + call, piece, item)


def solve(rows: list[list[float]], values: list[float]) -> list[float]:
    """Solve three equations."""
    whole, pairs = determinant(rows), list(zip(rows, values, strict=True))
    put = ([[*row[:at], value, *row[at + 1 :]] for row, value in pairs] for at in range(3))
    return [max(0.0, determinant(one) / whole) for one in put]


def determinant(rows: list[list[float]]) -> float:
    (a, b, c), (d, e, f), (g, h, i) = rows
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


class Simulation:
    """One case. Times are in seconds from the beginning; events are a heap of (time, order, what, of which)."""

    def __init__(self, case: Case, costs: Costs, seed: int = 1) -> None:
        self.case = case
        self.costs = costs
        self._chance = random.Random(seed)
        self._events: list[tuple[float, int, Callable[[float, int], None], int]] = []
        self._order = 0
        self._todo = case.tasks
        self._left = [0] * (case.nodes * case.at_once)
        self._news: list[list[float]] = [[] for _ in range(case.nodes)]
        self._is_asked = [True] * case.nodes
        self._free = [0.0] * case.drivers
        self.busy = [0.0] * case.drivers
        self.delays = list[float]()
        self.waited = 0.0
        self.ended = 0
        self.answers = 0
        self._asked: deque[float] = deque()
        self._next_request = 0.0

    def run(self) -> float:
        """Return when the last task has ended for the driver."""
        for slot in range(len(self._left)):
            self._at(self._chance.random(), self._begin_task, slot)
        now = 0.0
        while self._events:
            now, _, what, which = heapq.heappop(self._events)
            what(now, which)
        return now

    def _at(self, moment: float, what: Callable[[float, int], None], which: int) -> None:
        self._order += 1
        heapq.heappush(self._events, (moment, self._order, what, which))

    def _begin_task(self, now: float, slot: int) -> None:
        if not self._todo:
            return
        self._todo -= 1
        self._left[slot] = self.case.steps
        driver = self._driver_of(slot // self.case.at_once)
        begun = max(now, self._free[driver]) + self.costs.item
        self._free[driver] = begun
        self.busy[driver] += self.costs.item
        self._at(begun, self._ask_model, slot)

    def _ask_model(self, now: float, slot: int) -> None:
        begins = max(now, self._next_request)
        self._next_request = begins + 60 / self.case.per_minute
        self.waited += begins - now
        self._at(begins + THINKING * self._chance.lognormvariate(0, SIGMA), self._end_step, slot)

    def _end_step(self, now: float, slot: int) -> None:
        node = slot // self.case.at_once
        self._news[node].append(now)
        self._left[slot] -= 1
        if self._left[slot]:
            self._ask_model(now, slot)
        else:
            self._at(now, self._begin_task, slot)
        if self._is_asked[node]:
            self._is_asked[node] = False
            self._at(now + GATHER, self._answer, node)

    def _answer(self, now: float, node: int) -> None:
        """The driver takes what the host gathered, and asks again: more has come by the time that it is free."""
        driver = self._driver_of(node)
        begins = max(now, self._free[driver])
        self._free[driver] = begins  # whoever comes later stands behind
        news, self._news[node] = self._news[node], []
        took = self.costs.answer + len(news) * self.costs.step
        self._free[driver] += took
        self.busy[driver] += took
        self.answers += 1
        self.delays += [begins + took - one for one in news[:1]]
        self._at(begins + took, self._ask_again, node)

    def _ask_again(self, now: float, node: int) -> None:
        if self._news[node]:
            self._at(now + GATHER, self._answer, node)
        else:
            self._is_asked[node] = True

    def _driver_of(self, node: int) -> int:
        return node * self.case.drivers // self.case.nodes


def describe(case: Case, costs: Costs) -> str:
    simulation = Simulation(case, costs)
    took = simulation.run()
    ideal = Simulation(replace(case, per_minute=math.inf), Costs(0, 0, 0)).run()
    delays = sorted(simulation.delays)
    steps = case.tasks * case.steps
    cells = (
        case.name,
        f"{took / 60:.1f}",
        f"{ideal / took:.2f}",
        f"{100 * max(simulation.busy) / took:.0f} %",
        f"{simulation.answers / took:,.0f}",
        f"{delays[len(delays) * 95 // 100]:.1f}",
        f"{steps / took * 60:,.0f}",
        f"{steps * len(LINE) / took / 1e6:.1f}",
        f"{steps * len(LINE) / 1e9:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the nodes and tasks")
    parser.add_argument("--call", type=float, default=0.75, help="CPU of a call of Ray in the driver, ms")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        costs = measure_costs(Path(folder), arguments.call / 1000)
    print("| an answer and its orders, ms | … of which Ray's call | a step in it, ms | an item, ms |")
    print("| --- | --- | --- | --- |")
    print(f"| {costs.answer * 1000:.2f} | {arguments.call:.2f} | {costs.step * 1000:.2f} | {costs.item * 1000:.2f} |\n")
    print(f"| {' | '.join(COLUMNS)} |")
    print("| --- |" + " ---: |" * (len(COLUMNS) - 1))
    for case in CASES:
        small = replace(case, nodes=max(10, case.nodes // 10), tasks=case.tasks // 10)
        print(describe(small if arguments.small else case, costs), flush=True)


if __name__ == "__main__":
    main()
