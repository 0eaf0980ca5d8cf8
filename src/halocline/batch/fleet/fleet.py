"""The driver of a batch on a cluster: gives items to hosts, copies their logs, and writes each end into the queue.

What must stay true: an attempt belongs to one slot, and only what that slot says of it counts. It is lost only after
its host has interrupted it, so no two attempts at an item run at a time.
"""

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from itertools import count
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.batch.fleet import messages
from halocline.batch.fleet.log_pieces import LogCopy
from halocline.batch.fleet.messages import Answer, Channel, Hello, Lease, NodeGone, Nodes, Orders, Result
from halocline.batch.fleet.movable import find_paths, move_item
from halocline.batch.purse import Purse
from halocline.batch.queue import LETTERS, Ending, Outcome, Queue, Standing
from halocline.batch.work import read_cost
from halocline.client.tasks import Client
from halocline.files.durable import tells_full_disk, write_whole
from halocline.protocol.errors import TaskBusy, UsageError
from halocline.protocol.state.state import State
from halocline.protocol.waiting import end_tasks
from halocline.store.blobs import DiskBlobs
from halocline.store.tasks.history import new_task_id

_log = logging.getLogger("halocline")
_WAIT = 2.0
"""Seconds that a host may wait until something is new."""
_PAUSE = 0.5
"""Seconds between looks for hosts that are new, or silent."""
STOPPING = 20.0
"""Seconds that hosts have to interrupt what runs when the batch stops."""


class _Slot:
    """A slot as the driver knows it. `ordered` is when its host was last sent orders: it stops some time after them."""

    def __init__(self, hello: Hello) -> None:
        self.hello = hello
        self.ordered = time.monotonic()
        self.is_live = True
        self.known = frozenset[str]()
        self.fresh = asyncio.Event()


class _Attempt:
    """An attempt that a slot has. Its end is a result, None if it did not end, or False if it is lost."""

    def __init__(self, standing: Standing, copy: LogCopy) -> None:
        self.standing = standing
        self.copy = copy
        self.since = time.monotonic()
        self.end: asyncio.Future[Result | bool | None] = asyncio.get_running_loop().create_future()

    def resolve(self, end: Result | bool | None) -> None:
        if not self.end.done():
            self.end.set_result(end)


class Fleet:
    """Runs the items of one queue on nodes; a `run.Runner`. Open it before, in the running loop.

    `client` has the driver's home. A node that does not answer for `patience` seconds has lost its items.
    """

    def __init__(
        self,
        queue: Queue,
        nodes: Nodes,
        client: Client,
        purse: Purse,
        patience: float,
        at_once: int,
        note: Callable[[str], None] = lambda id: None,
    ) -> None:
        self.purse = purse
        self.is_stopping = False
        self._is_told = False
        """True once all hosts were told that the money is spent."""
        self._queue = queue
        self._nodes = nodes
        self._client = client
        self._patience = patience
        self._at_once = at_once
        self._coming: dict[Channel, float] = {}
        """Hosts that were never there yet, and since when they are wanted."""
        self._note = note
        self._blobs = DiskBlobs(client.home.blobs)
        self._slots: dict[str, _Slot] = {}
        self._attempts: dict[str, _Attempt] = {}
        self._at: defaultdict[str, dict[str, _Attempt]] = defaultdict(dict)
        """The attempts that each slot has, by item: with many nodes, no exchange looks at those of others."""
        self._given: dict[str, str] = {}
        """The slot of each item that has one."""
        self._taken = Counter[str]()
        """The number of items that each slot has."""
        self._numbers = count(1)
        self._changed = asyncio.Event()
        self._jobs = set[asyncio.Task[None]]()
        self._stopping: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Reach the cluster. Raises UsageError."""
        self._add_hosts(await self._nodes.find_new())
        self._start(self._look_after())

    def stop(self) -> None:
        """Interrupt what runs; each item continues with the next run of the batch."""
        if self.is_stopping:
            return
        self.is_stopping = True
        self._wake()
        self._stopping = asyncio.get_running_loop().call_later(STOPPING, self._give_up)

    async def close(self) -> None:
        if self._stopping:
            self._stopping.cancel()
        await end_tasks(*self._jobs)
        await self._nodes.close()

    def read_state(self, id: str) -> State | None:
        """Return the state of an item's task while it runs."""
        attempt = self._attempts.get(id)
        return attempt.copy.read_state() if attempt else None

    def read_wait(self, id: str) -> None:
        """Return None: nodes send the logs of tasks, and no wait is in a log."""

    def read_cost(self, standing: Standing) -> float | None:
        return read_cost(self._client, standing.task)

    async def run(self, standing: Standing) -> None:
        """Run an item on a node, on others after that if nodes are lost, and write its end into the queue.

        Raises HaloclineError if the queue cannot be written.
        """
        id = standing.item.id
        try:
            while not self.is_stopping and (begun := await self._begin(standing)):
                if await self._see_through(begun) is not False:
                    return
                standing = self._queue.items[id]
        except (TaskBusy, OSError) as error:
            _log.error("item %s does not continue now: %s", id, error)
        except UsageError as error:
            await self._queue.end(id, Outcome(Ending.PLACE, error.code, error.text))
        finally:
            self._take_back(id)

    async def _begin(self, standing: Standing) -> Standing | None:
        """Return the item with the slot that has it; None if the batch stops first. Raises UsageError."""
        id = standing.item.id
        if standing.task and standing.node:
            self._give(id, standing.node)
            return standing
        if standing.task:  # it began in the driver's process, whose places no node has
            await self._lose(standing)
            standing = self._queue.items[id]
        paths = find_paths(standing.item)
        while not self.is_stopping and not self.purse.is_spent:
            if slot := self._choose_slot(paths):
                self._give(id, slot.hello.slot)
                await self._queue.begin(id, new_task_id(LETTERS), slot.hello.slot)
                return self._queue.items[id]
            await self._changed.wait()
        return None

    def _choose_slot(self, paths: Iterable[str]) -> _Slot | None:
        """Return the slot with the fewest attempts that sees these paths; None if none has room. Raises UsageError.

        Each has room for its share of those that run at once, so that the first to come does not get all.
        """
        self._changed.clear()
        seeing = [slot for slot in self._slots.values() if not {*slot.hello.unseen} & {*paths}]
        coming = sum(time.monotonic() - since < self._patience for since in self._coming.values())
        if self._slots and not seeing and not coming:
            raise UsageError(
                f"No node sees {', '.join(paths)} of this machine.",
                "Name a repository that nodes can clone (git), or a folder that is the same on all.",
            )
        hosts = coming + sum(slot.is_live for slot in self._slots.values())
        free = [slot for slot in seeing if slot.is_live and self._taken[slot.hello.slot] * hosts < self._at_once]
        return min(free, key=lambda slot: self._taken[slot.hello.slot], default=None)

    def _give(self, id: str, slot: str) -> None:
        self._given[id] = slot
        self._taken[slot] += 1

    def _take_back(self, id: str) -> None:
        if slot := self._given.pop(id, ""):
            self._taken[slot] -= 1
            self._wake(slot)

    async def _see_through(self, standing: Standing) -> Result | bool | None:
        """Return the end of an attempt, which is in the queue then. Raises HaloclineError."""
        id = standing.item.id
        copy = await asyncio.to_thread(LogCopy, self._client.home, standing.task)
        attempt = self._attempts[id] = self._at[standing.node][id] = _Attempt(standing, copy)
        self._wake(standing.node)
        try:
            end = await attempt.end
        finally:
            del self._attempts[id], self._at[standing.node][id]
            await asyncio.to_thread(copy.close)
        if isinstance(end, Result):
            self.purse.note(id, _check_cost(end.outcome.cost))
            self.purse.settle(id)
            await self._keep(standing, end)
        elif end is False:
            self._take_back(id)
            await self._lose(standing)
        return end

    async def _keep(self, standing: Standing, result: Result) -> None:
        """Keep the patch and write the outcome into the queue. Raises OSError if the disk is full."""
        outcome = replace(result.outcome, folder=f"{self._find_node_name(standing.node)}:{result.outcome.folder}")
        if outcome.result.startswith("/") and result.patch is None:  # it stays on the node
            outcome = replace(outcome, result="")
        if result.patch is not None:
            patch = self._queue.folder / "results" / f"{standing.name}.patch"
            try:
                await asyncio.to_thread(_write_result, patch, result.patch)
                if outcome.result.startswith("/"):
                    outcome = replace(outcome, result=str(patch))
            except OSError as error:
                if tells_full_disk(error):
                    raise
                outcome = replace(outcome, problem=str(error))
        await self._queue.end(standing.item.id, outcome)

    async def _lose(self, standing: Standing) -> None:
        cost = await asyncio.to_thread(self.read_cost, standing)
        where = f"its node {standing.node} is lost" if standing.node else "its place is not on a node"
        _log.warning("item %s: %s, so it begins again", standing.item.id, where)
        await self._queue.lose(standing.item.id, cost)
        self.purse.settle(standing.item.id)

    def _find_node_name(self, slot: str) -> str:
        return self._slots[slot].hello.machine if slot in self._slots else slot

    def _wake(self, *slots: str) -> None:
        """Let these hosts, or all, have their orders, and what waits look again."""
        for name in slots or self._slots:
            if name in self._slots:
                self._slots[name].fresh.set()
        self._changed.set()

    def _give_up(self) -> None:
        for attempt in self._attempts.values():
            attempt.resolve(None)
        self._wake()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        job = asyncio.create_task(work)
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    def _add_hosts(self, channels: Iterable[Channel]) -> None:
        for channel in channels:
            self._coming[channel] = time.monotonic()
            self._start(self._talk_to(channel))

    async def _look_after(self) -> None:
        """Look for hosts that are new, and for attempts whose hosts are silent, as long as the batch runs."""
        while True:
            await asyncio.sleep(_PAUSE)
            with suppress(UsageError):  # the cluster does not answer now
                self._add_hosts(await self._nodes.find_new())
            now = time.monotonic()
            for attempt in self._attempts.values():
                slot = self._slots.get(attempt.standing.node)
                if now - max(attempt.since, slot.ordered if slot else 0.0) > self._patience:
                    attempt.resolve(None if self.is_stopping else False)

    async def _talk_to(self, channel: Channel) -> None:
        why = ""
        while True:
            try:
                slot = self._welcome(messages.decode(await self._ask(channel.hello()), Hello))
                self._coming.pop(channel, None)
                try:
                    await self._exchange(channel, slot)
                finally:
                    slot.is_live = False
                why = ""
            except (NodeGone, OSError, msgspec.DecodeError) as error:
                if f"{type(error).__name__}: {error}" != why:  # said once, however often it is tried
                    why = f"{type(error).__name__}: {error}"
                    _log.warning("a node cannot be used now: %s", why)
            await asyncio.sleep(_PAUSE)

    async def _ask(self, asking: Awaitable[bytes]) -> bytes:
        try:
            async with asyncio.timeout(self._patience):
                return await asking
        except TimeoutError:
            raise NodeGone("it does not answer") from None

    def _welcome(self, hello: Hello) -> _Slot:
        slot = self._slots.setdefault(hello.slot, _Slot(hello))
        slot.hello, slot.is_live, slot.known = hello, True, frozenset()
        self._wake(hello.slot)
        return slot

    async def _exchange(self, channel: Channel, slot: _Slot) -> None:
        """Give orders and take answers until the host's session ends. Raises NodeGone."""
        calls = dict[asyncio.Task[bytes], float]()
        waking = asyncio.ensure_future(slot.fresh.wait())
        try:
            while True:
                if not calls or (slot.fresh.is_set() and len(calls) == 1):
                    slot.fresh.clear()
                    orders = messages.encode(self._write_orders(slot, wait=0.0 if calls else _WAIT))
                    slot.ordered = time.monotonic()
                    calls[asyncio.create_task(channel.exchange(orders))] = slot.ordered
                if waking.done():
                    waking = asyncio.ensure_future(slot.fresh.wait())
                watched: set[asyncio.Future[Any]] = {*calls} if len(calls) > 1 else {*calls, waking}
                done, _ = await asyncio.wait(watched, timeout=self._patience / 2, return_when=asyncio.FIRST_COMPLETED)
                for call in [call for call in calls if call in done]:
                    del calls[call]
                    if not await self._take(slot, messages.decode(call.result(), Answer)):
                        return
                if calls and time.monotonic() - min(calls.values()) > self._patience / 2:
                    raise NodeGone(f"{slot.hello.machine} does not answer")
        finally:
            await end_tasks(waking, *calls)

    def _write_orders(self, slot: _Slot, wait: float) -> Orders:
        is_ending = self.is_stopping or self.purse.is_spent
        ours = [one for one in self._at[slot.hello.slot].values() if not one.end.done()]
        leases = tuple(_write_lease(one, slot, stop=is_ending) for one in ours)
        return Orders(slot.hello.session, next(self._numbers), leases, wait)

    async def _take(self, slot: _Slot, answer: Answer) -> bool:
        """Take an answer. False if the session of the host has ended."""
        if answer.session != slot.hello.session:
            return False
        slot.known = frozenset(answer.known)
        ours = {one.standing.name: one for one in self._at[slot.hello.slot].values() if not one.end.done()}
        await asyncio.to_thread(self._store, answer, ours)
        for name in {piece.name for piece in answer.pieces} & ours.keys():
            self._note(ours[name].standing.item.id)
        for name, cost in answer.costs.items():
            if name in ours:
                self.purse.note(ours[name].standing.item.id, _check_cost(cost))
        for result in answer.results:
            if result.name in ours:
                ours[result.name].resolve(result)
        for name in answer.diverged:
            if name in ours:
                ours[name].resolve(False)
        for name, why in answer.unended.items():
            if name in ours:
                _log.warning("item %s came to no end: %s", name, why)
                ours[name].resolve(None)
        if self.purse.is_spent and not self._is_told:
            self._is_told = True
            self._wake()
        return True

    def _store(self, answer: Answer, ours: dict[str, _Attempt]) -> None:
        """Write contents before the lines that refer to them. Blocks."""
        for blob in answer.blobs:
            self._blobs.put(blob)
        for piece in answer.pieces:
            if piece.name in ours:
                ours[piece.name].copy.add(piece)


def _write_lease(attempt: _Attempt, slot: _Slot, *, stop: bool) -> Lease:
    standing, copy = attempt.standing, attempt.copy
    if standing.name in slot.known:
        return Lease(standing.name, standing.task, copy.size, stop=stop)
    return Lease(standing.name, standing.task, copy.size, copy.digest, stop, move_item(standing.item))


def _check_cost(cost: float | None) -> float | None:
    """Return a cost that a node says; None for what can be none."""
    return cost if cost is not None and isfinite(cost) and cost >= 0 else None


def _write_result(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, data)
