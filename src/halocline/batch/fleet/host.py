"""The host on a node: runs the attempts that the driver wants, as a batch here would, and answers with what is new.

What must stay true: without a word from the driver it interrupts its attempts, before the driver gives them away.
"""

import asyncio
import gc
import logging
import os
import secrets
import socket
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from halocline.batch.fleet import messages
from halocline.batch.fleet.log_pieces import MOST, Shipment
from halocline.batch.fleet.messages import Answer, Hello, Lease, Orders, Result, Terms
from halocline.batch.fleet.slots import Slot, find_slots
from halocline.batch.places import LocalPlaces
from halocline.batch.purse import Purse
from halocline.batch.queue import Queue
from halocline.batch.work import GARBAGE, THREADS, Clients, Worker
from halocline.client.tasks import open_client
from halocline.files.durable import write_whole
from halocline.protocol.codec import LOG_NAME
from halocline.protocol.waiting import end_tasks, wait_at_most
from halocline.store.paths import Home

_log = logging.getLogger("halocline")
_GATHER = 0.5
"""Seconds in which lines of logs are gathered for one answer; an end is answered at once."""
MOST_OF_PATCH = 32 << 20
"""Bytes of a patch that is brought to the driver."""


class _Attempt:
    """An attempt that runs, or ran."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.job: asyncio.Task[None] | None = None
        self.is_diverged = False


class AgentHost:
    """A host as an actor of Ray, which takes and gives bytes."""

    def __init__(self, terms: bytes, environment: Mapping[str, str] = os.environ) -> None:
        self._terms = messages.decode(terms, Terms)
        self._environment = environment
        self._host: Host | None = None
        self._opening = asyncio.Lock()

    async def hello(self) -> bytes:
        async with self._opening:
            if self._host is None:
                asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS))
                gc.set_threshold(*GARBAGE)
                gc.freeze()
                around = find_slots(self._terms.batch, self._terms.key, self._environment)
                node = str(os.getppid())  # what started it stays, and starts it again, as long as the node does
                slot = await asyncio.to_thread(Slot, around, node)
                self._host = Host(self._terms, slot, self._environment)
        return messages.encode(self._host.say_hello())

    async def exchange(self, orders: bytes) -> bytes:
        if self._host is None:
            return messages.encode(Answer(""))
        return messages.encode(await self._host.exchange(messages.decode(orders, Orders)))

    async def close(self) -> None:
        if self._host:
            await self._host.close()


class Host:
    """A host in its slot, in the running loop."""

    def __init__(self, terms: Terms, slot: Slot, environment: Mapping[str, str]) -> None:
        self._terms = terms
        self._slot = slot
        self._home = _make_home(slot.folder / "home", terms)
        self._queue = Queue(self._home.batches / terms.batch)
        self._queue.__enter__()
        self._clients = Clients(
            terms.manner, slot.folder, make=partial(open_client, environment=environment, home=self._home)
        )
        self._places = LocalPlaces(slot.folder, self._queue.folder, environment, self._clients.closes_network)
        self._attempts: dict[str, _Attempt] = {}
        self._ending: dict[str, asyncio.Task[None]] = {}
        """Jobs of attempts that were interrupted because the driver was silent."""
        self._session = secrets.token_hex(4)
        self._changed, self._urgent = asyncio.Event(), asyncio.Event()
        self._number = 0
        self._told = time.monotonic()
        self._watching = asyncio.create_task(self._watch())

    def say_hello(self) -> Hello:
        unseen = [path for path, mark in self._terms.marks.items() if messages.mark_folder(path) != mark]
        return Hello(self._slot.id, self._session, socket.gethostname(), tuple(unseen))

    async def exchange(self, orders: Orders) -> Answer:
        """Do what the orders want, and return what is new as soon as there is something, or a later call came."""
        if orders.session != self._session or orders.number <= self._number:
            return Answer(self._session, tuple(self._attempts))
        self._told = time.monotonic()
        self._number, until = orders.number, self._told + orders.wait
        is_urgent = self._urgent.is_set()
        self._wake()  # for whoever waits with the orders before these
        if not is_urgent:
            self._urgent.clear()
        self._follow(orders)
        if orders.wait:
            await wait_at_most(_GATHER, self._urgent.wait())
        while True:
            self._changed.clear()
            self._urgent.clear()
            answer = await asyncio.to_thread(self._collect, orders.leases)
            left = until - time.monotonic()
            if left <= 0 or orders.number != self._number or answer != Answer(self._session, answer.known):
                return answer
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
                    await wait_at_most(_GATHER, self._urgent.wait())
            except TimeoutError:
                continue

    async def close(self) -> None:
        await end_tasks(self._watching)
        for attempt in self._attempts.values():
            attempt.worker.stop()
        jobs = [one.job for one in self._attempts.values() if one.job]
        if jobs := [*jobs, *self._ending.values()]:
            await asyncio.wait(jobs)
        await self._clients.close()
        self._queue.__exit__()
        self._slot.close()

    def _follow(self, orders: Orders) -> None:
        """Begin, interrupt and forget attempts, so that they are those that are wanted."""
        for lease in orders.leases:
            attempt = self._attempts.get(lease.name)
            if attempt is None and lease.item and not lease.stop:
                self._begin(lease)
            elif attempt and lease.stop and not attempt.worker.is_stopping:
                attempt.worker.stop()
        for name in self._attempts.keys() - {lease.name for lease in orders.leases}:
            if not self._attempts[name].worker.is_stopping:
                self._attempts[name].worker.stop()
            self._forget_ended(name)

    def _wake(self) -> None:
        """Have what is new answered at once."""
        self._changed.set()
        self._urgent.set()

    def _forget_ended(self, name: str) -> None:
        job = self._attempts[name].job
        if job and job.done():
            del self._attempts[name]

    def _begin(self, lease: Lease) -> None:
        worker = Worker(
            self._queue,
            self._places,
            self._clients,
            self._terms.manner,
            Purse(None),
            lambda name: self._changed.set(),
            lambda item: lease.task,
        )
        attempt = self._attempts[lease.name] = _Attempt(worker)
        attempt.job = asyncio.create_task(self._run(attempt, lease))
        attempt.job.add_done_callback(lambda job: self._wake())

    async def _run(self, attempt: _Attempt, lease: Lease) -> None:
        assert lease.item is not None
        if ending := self._ending.pop(lease.name, None):
            await asyncio.wait([ending])
        if lease.have:
            data = await asyncio.to_thread(_read_beginning, self._log_of(lease.task), lease.have)
            if sha256(data).hexdigest() != lease.digest:
                attempt.is_diverged = True
                return
        await self._queue.add([replace(lease.item, id=lease.name)])
        standing = self._queue.items[lease.name]
        if not standing.outcome:
            await attempt.worker.run(standing)

    def _log_of(self, task: str) -> Path:
        return self._home.task(task) / LOG_NAME

    def _collect(self, leases: tuple[Lease, ...]) -> Answer:
        """Return what is new of these attempts. Blocks."""
        shipment = Shipment(self._home.blobs)
        results, unended, costs = list[Result](), dict[str, str](), dict[str, float | None]()
        diverged = list[str]()
        for lease in leases:
            attempt = self._attempts.get(lease.name)
            if attempt is None or attempt.job is None:
                if lease.stop:
                    unended[lease.name] = ""
                continue
            is_over = attempt.job.done()
            if attempt.is_diverged:
                diverged.append(lease.name)
                continue
            is_all = shipment.add(lease.name, self._log_of(lease.task), lease.have)
            if state := attempt.worker.read_state(lease.name):
                costs[lease.name] = state.budget.cost
            if is_over and is_all and sum(len(one.patch or b"") for one in results) < MOST:
                self._add_end(lease.name, attempt.job, results, unended)
        pieces, blobs = tuple(shipment.pieces), tuple(shipment.blobs.values())
        if not (pieces or results):
            costs = {}
        known = tuple(self._attempts)
        return Answer(self._session, known, pieces, blobs, costs, tuple(results), unended, tuple(diverged))

    def _add_end(self, name: str, job: asyncio.Task[None], results: list[Result], unended: dict[str, str]) -> None:
        standing = self._queue.items.get(name)
        if standing is None or standing.outcome is None:
            unended[name] = str(job.exception() or "it was interrupted")
            return
        outcome, patch = standing.outcome, self._queue.folder / "results" / f"{name}.patch"
        size, data = patch.stat().st_size if patch.exists() else 0, None
        if size > MOST_OF_PATCH:
            outcome = replace(outcome, problem=f"The patch has {size >> 20} MB and stays there.")
        elif patch.exists():
            data = patch.read_bytes()
        results.append(Result(name, outcome, data))

    async def _watch(self) -> None:
        """Interrupt all attempts whenever the driver has been silent for too long; its earlier orders are void then."""
        while True:
            await asyncio.sleep(self._terms.patience / 20)
            if time.monotonic() - self._told < self._terms.patience:
                continue
            if self._attempts:
                _log.warning("no word from the driver for %.0f s: what runs is interrupted", self._terms.patience)
            self._session = secrets.token_hex(4)
            self._told = time.monotonic()
            for name, attempt in self._attempts.items():
                attempt.worker.stop()
                if attempt.job:
                    self._ending[name] = attempt.job
            self._attempts = {}


def _make_home(root: Path, terms: Terms) -> Home:
    """Return the home of a slot, with the driver's settings and rules."""
    home = Home(root)
    home.tasks.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(home.settings, terms.settings)
    write_whole(home.policy, terms.policy)
    return home


def _read_beginning(path: Path, size: int) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(size)
