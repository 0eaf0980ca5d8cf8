"""The queue of a batch: an append-only log of what was added, what began and what ended.

What must stay true: an entry is on the disk before anything is done for it, only the process that holds the lock
writes, and the state is the fold of the entries alone.
"""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.batch.items import Item
from halocline.files.durable import sync_path
from halocline.protocol import json_input, json_output
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.file_locks import LockHeld, lock_file
from halocline.protocol.messages import Usage
from halocline.protocol.values import Tagged, Value

LOG_NAME = "queue.jsonl"
LOCK_NAME = "queue.lock"
_PATIENCE = 0.2
"""Seconds to wait for the lock: a batch holds it as long as it runs."""
LETTERS = 8
"""At the end of the ids of tasks: with four, two of a thousand that begin in one second may have the same."""


class Ending(StrEnum):
    """Ends of items."""

    PASSED = "passed"
    REJECTED = "rejected"
    """The task came to its end, but its result was not accepted."""
    LIMIT = "limit"
    APPROVAL = "approval"
    """It came to its end, but calls needed an approval that no one gave."""
    REFUSED = "refused"
    """The model refused."""
    STOPPED = "stopped"
    """A person stopped the task."""
    ERROR = "error"
    """The model, or the task, failed."""
    PLACE = "place"
    """There was no place to work in."""


class Outcome(Value, frozen=True):
    """The end of an item, with its figures.

    Attributes:
        cause: more of why it ended: the limit, the kind of error, the exit code of the acceptance command.
        text: the model's final answer, or the error.
        model: the model that did it.
        cost: US dollars; None if a price is unknown.
        seconds: from the beginning of the attempt that ended it.
        requests: to the model.
        failed_calls, failed_edits: calls of tools that failed, and those of them that were edits.
        invalid_calls: those that never began: of no tool, or with arguments that are none of it.
        edit_tool: the tool that made most of its edits.
        repeated_reads: reads of a file that had been read and not changed.
        accepted: True or False by the acceptance command; None without one.
        accept_output: the end of what that command printed.
        files, added, removed: the size of the change.
        result: the patch, or the branch, that holds the change; `problem`: why there is none, or not all of it.
        folder: where it was done.
        pull_request: the address of the one that was opened for it.
    """

    ending: Ending
    cause: str = ""
    text: str = ""
    model: str = ""
    cost: float | None = 0.0
    tokens: Usage = Usage()
    seconds: float = 0.0
    requests: int = 0
    calls: int = 0
    failed_calls: int = 0
    failed_edits: int = 0
    invalid_calls: int = 0
    repeated_reads: int = 0
    edit_tool: str = ""
    accepted: bool | None = None
    accept_output: str = ""
    files: int = 0
    added: int = 0
    removed: int = 0
    result: str = ""
    problem: str = ""
    folder: str = ""
    pull_request: str = ""

    @property
    def passed(self) -> bool:
        return self.ending is Ending.PASSED


class Added(Tagged, frozen=True):
    """An item came into the queue."""

    item: Item
    at: float = 0.0


class Begun(Tagged, frozen=True):
    """An item began, in this task; a process that takes it up continues that task, on the same `node` of a cluster."""

    id: str
    task: str
    at: float = 0.0
    node: str = ""


class Lost(Tagged, frozen=True):
    """The attempt at an item cannot continue, for its node is gone: it does not count, and another begins.

    `cost` is what is known of it, in US dollars; None if a price is unknown.
    """

    id: str
    cost: float | None = 0.0
    at: float = 0.0


class Done(Tagged, frozen=True):
    """The task of an item came to its end, and its change is kept: what is left is to accept it or not."""

    id: str
    outcome: Outcome
    at: float = 0.0


class Ended(Tagged, frozen=True):
    """An item ended; it does not run again unless a person asks for it."""

    id: str
    outcome: Outcome
    at: float = 0.0


class Again(Tagged, frozen=True):
    """A person wants an item to run once more, in a task and a place of its own."""

    id: str
    at: float = 0.0


Entry = Added | Begun | Lost | Done | Ended | Again
_entry: json_input.Decoder[Entry] = json_input.Decoder(Entry)


class Standing(Value, frozen=True):
    """An item in the queue: its task and its outcome, as far as there are any.

    `done` is the outcome before it was accepted or not. `attempt` counts from 1; `cost` is that of those before, in US
    dollars, None if it is unknown; `lost` are the tasks of those whose nodes were lost.
    """

    item: Item
    task: str = ""
    node: str = ""
    done: Outcome | None = None
    outcome: Outcome | None = None
    attempt: int = 1
    cost: float | None = 0.0
    lost: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of its place and its branch: the id, with the number of a later attempt."""
        return self.item.id if self.attempt == 1 else f"{self.item.id}.{self.attempt}"


def apply_entry(items: dict[str, Standing], entry: Entry) -> None:
    """Apply an entry to the items by id, which are in the order in which they were added."""
    match entry:
        case Added(item=item):
            items.setdefault(item.id, Standing(item))
        case Begun(id=id, task=task, node=node):
            items[id] = replace(items[id], task=task, node=node)
        case Lost(id=id, cost=cost):
            one = items[id]
            items[id] = replace(_begin_again(one, cost), lost=(*one.lost, one.task))
        case Done(id=id, outcome=outcome):
            items[id] = replace(items[id], done=outcome)
        case Ended(id=id, outcome=outcome):
            items[id] = replace(items[id], outcome=outcome)
        case Again(id=id):
            items[id] = _begin_again(items[id], done.cost if (done := items[id].outcome) else 0.0)


def _begin_again(one: Standing, took: float | None) -> Standing:
    """Return an item as one that begins once more, after an attempt that cost so much."""
    cost = None if took is None or one.cost is None else one.cost + took
    return Standing(one.item, attempt=one.attempt + 1, cost=cost, lost=one.lost)


class Queue:
    """The queue in a folder, open for writing by this process alone. Use it as a context manager.

    Raises UsageError if another process has it open, and HaloclineError if its log is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._held = ExitStack()
        self._file = -1
        self._turn = asyncio.Lock()
        self.items: dict[str, Standing] = {}

    def __enter__(self) -> "Queue":
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._held.enter_context(lock_file(self.folder / LOCK_NAME, "runs this batch", _PATIENCE))
        except LockHeld as error:
            raise UsageError(f"The batch {self.folder.name} runs already: {error}.", "Wait for it.") from error
        try:
            self._open_log()
        except BaseException:
            self._held.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
        self._held.close()

    def _open_log(self) -> None:
        path = self.folder / LOG_NAME
        is_new = not path.exists()
        data = b"" if is_new else path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        self.items = _fold_log(whole, path)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        if len(whole) < len(data):  # the write of the last entry was cut short, so nothing was done for it
            os.ftruncate(self._file, len(whole))
        if is_new:
            sync_path(self.folder)

    async def add(self, items: Sequence[Item]) -> None:
        """Add the items that are not in the queue yet. Raises UsageError if one differs from the item of its id."""
        for item in items:
            if (known := self.items.get(item.id)) and known.item != item:
                raise UsageError(
                    f"Item {item.id!r} is in the batch {self.folder.name}, and says something else there.",
                    "Give it another id, or the batch another name: --name NAME",
                )
        new = [item for item in items if item.id not in self.items]
        self._require_unlike(item.id for item in new)
        await self._write(*(Added(item, time.time()) for item in new))

    async def begin(self, id: str, task: str, node: str = "") -> None:
        await self._write(Begun(id, task, time.time(), node))

    async def lose(self, id: str, cost: float | None) -> None:
        """Let an item begin again whose attempt cannot continue. Raises UsageError if its new name is taken."""
        self._require_unlike([_begin_again(self.items[id], cost).name])
        await self._write(Lost(id, cost, time.time()))

    async def note_done(self, id: str, outcome: Outcome) -> None:
        await self._write(Done(id, outcome, time.time()))

    async def end(self, id: str, outcome: Outcome) -> None:
        await self._write(Ended(id, outcome, time.time()))

    async def repeat(self, ids: Iterable[str]) -> None:
        """Let items that ended run once more. Raises UsageError if that would take the name of another item."""
        ended = [self.items[id] for id in ids if self.items[id].outcome]
        self._require_unlike(_begin_again(one, 0.0).name for one in ended)
        await self._write(*(Again(one.item.id, time.time()) for one in ended))

    def _require_unlike(self, names: Iterable[str]) -> None:
        """Raise UsageError for a name of a place that there is already."""
        known = {one.name for one in self.items.values()}
        if taken := known & {*names}:
            raise UsageError(f"The place {taken.pop()!r} is that of another item.", "Give the item another id.")

    async def _write(self, *entries: Entry) -> None:
        """Append entries, then apply them. Raises HaloclineError: none of them is in the log."""
        if not entries:
            return
        data = b"".join(json_output.encode(entry) + b"\n" for entry in entries)
        async with self._turn:
            writing = asyncio.ensure_future(asyncio.to_thread(self._append, data))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await asyncio.wait([writing])  # the file is open until it is written
                raise
            except OSError as error:
                raise HaloclineError(
                    f"The log of the batch {self.folder.name} cannot be written: {error.strerror}.",
                    "Make room on that disk, then start the same batch again: it continues.",
                ) from error
            for entry in entries:
                apply_entry(self.items, entry)

    def _append(self, data: bytes) -> None:
        start = os.fstat(self._file).st_size
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, start)  # half an entry would damage the log
            raise


def read_queue(folder: Path) -> Mapping[str, Standing]:
    """Read a queue that may be running. Raises UsageError if there is none."""
    path = folder / LOG_NAME
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"There is no batch {folder.name}.", "To list them: halo batch --list") from None
    return _fold_log(data[: data.rfind(b"\n") + 1], path)


def _fold_log(data: bytes, path: Path) -> dict[str, Standing]:
    items: dict[str, Standing] = {}
    for entry in _read_entries(data, path):
        apply_entry(items, entry)
    return items


def _read_entries(data: bytes, path: Path) -> Iterator[Entry]:
    for number, line in enumerate(data.splitlines(), 1):
        try:
            yield _entry.decode(line)
        except msgspec.DecodeError as error:
            raise HaloclineError(
                f"Line {number} of {path} cannot be read: {error}.",
                "Restore the file from a backup, or start a batch of another name.",
            ) from error
