"""The append-only log of one task: one JSON object per line, `seq` from 1, one writer.

A line is flushed when it is written, so a killed process loses nothing that was shown; `sync` makes it, and first what
it refers to, survive a power cut. A torn last line is cut when the log is opened for writing. Readers in this process
get the past from disk and then the live tail, without a gap; readers in another process follow the file.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from halocline.files.durable import sync_path
from halocline.protocol import codec, secrets
from halocline.protocol.errors import HaloclineError, LogDamaged, LogTooNew, TaskBusy, TaskNotFound
from halocline.protocol.events import AssistantMessageCompleted, DurableEvent, LogRepaired, StepRetried
from halocline.protocol.private_files import make_private_folder
from halocline.protocol.state.draft import DRAFT_ENDS, Delta
from halocline.task import lock
from halocline.task.log_reading import Tail as Tail, follow_log as follow_log, read_log as read_log
from halocline.task.running_reply import RunningReply, has_reply, recover_reply, remove_reply, write_whole
from halocline.task.stream import E, Stream

_TAIL = 64 * 1024
_PAUSE = 0.004
"""Seconds after which contents are synced ahead, so that the next request to the model is sent first."""
REPLACED = "\ufffd".encode()
"""Replacement for text that cannot be written as UTF-8."""

D = TypeVar("D", bound=DurableEvent)


class LogUnwritable(HaloclineError):
    """The log cannot be written, so the task cannot continue; everything shown before is safe."""

    code = "log_unwritable"


class Log(Stream):
    """The one writer of a task's log."""

    def __init__(
        self, folder: Path, task: str, *, goes_on: bool = False, clock: Callable[[], float] = time.time
    ) -> None:
        """Take the writer's lock. A log that `goes_on` is not made again if its task was deleted meanwhile.

        Raises:
            TaskBusy: another process (or another Log of this one) holds it.
            TaskNotFound: it was deleted.
            LogUnwritable: the disk is full, broken or read-only.
        """
        self.path = folder / codec.LOG_NAME
        super().__init__(partial(read_log, self.path))
        self.task = task
        self._clock = clock
        try:
            if not goes_on:
                make_private_folder(folder)
            self._lock = lock.take_lock(folder, task)
        except OSError as error:
            raise _not_opened(folder, error) from error
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            lock.give_back(self._lock)
            raise _not_opened(folder, error) from error
        if not goes_on and _whole_and_torn(self._file)[0] == 0:
            os.ftruncate(self._file, 0)  # a start was cut in its first line
        self._reply = RunningReply(folder)
        self._synced = 0
        self._sync_first: Callable[[], None] = lambda: None
        self._blot: Callable[[str], str] = lambda text: text
        self._timer: asyncio.TimerHandle | None = None
        self._ahead: asyncio.Task[None] | None = None

    def refers_to(self, sync: Callable[[], None]) -> None:
        """Set the function that makes what events refer to survive a power cut; it may raise OSError."""
        self._sync_first = sync

    def leaves_out(self, redact: Callable[[str], str]) -> None:
        """Set the function that removes secrets from events, on disk and in the state built from them."""
        self._blot = redact

    def load(self) -> list[DurableEvent]:
        """Everything written so far, and what was shown of a reply when its process was killed, as a message.

        A torn last line is cut from the file, and the cut is recorded as an event.
        """
        whole, torn = _whole_and_torn(self._file)
        events = list(read_log(self.path))
        self.seq = events[-1].seq if events else 0
        if torn:
            os.ftruncate(self._file, whole)
            events.append(self.append(LogRepaired(bytes_cut=torn)))
        if has_reply(self.path.parent):
            if shown := recover_reply(self.path.parent, events):
                events.append(self.append(AssistantMessageCompleted(message=shown)))
            remove_reply(self.path.parent)
        return events

    def append(self, event: D) -> D:
        """Number, date and write one event, then show it. Raises LogUnwritable; the file then ends as before."""
        stamped = replace(event, seq=self.seq + 1, at=round(self._clock(), 3), task=self.task)
        line = codec.encode(stamped)
        if REPLACED in line:  # the state must match what is written
            stamped = cast(D, codec.decode(line))
        if self._blot(text := line.decode()) != text:
            stamped = redact_event(stamped, self._blot)
            line = codec.encode(stamped)
        self._write(line + b"\n")
        self.seq += 1
        if isinstance(stamped, DRAFT_ENDS):
            self._reply.forget()
        return self.show(stamped)

    def show(self, event: E) -> E:
        """Send an event to the live subscribers, a piece of a reply once it is kept. Raises LogUnwritable."""
        if isinstance(event, Delta):
            try:
                self._reply.keep(event, self.seq, self._blot)
            except OSError as error:
                raise self._unwritable(error) from error
        elif isinstance(event, StepRetried):
            self._reply.forget()
        return super().show(event)

    async def sync(self) -> None:
        """Make everything written so far survive a power cut, with what it refers to. Raises LogUnwritable.

        The first step begins it; the disk works while other coroutines go on.
        """
        if self._synced < self.seq:
            seq, begun = self.seq, asyncio.get_running_loop().run_in_executor(None, self._make_safe)
            try:
                await self._end_ahead()
                await begun
            except OSError as error:
                raise self._unwritable(error) from error
            self._synced = seq

    def sync_ahead(self) -> None:
        """Soon begin to sync what events refer to, in the background, so that the next `sync` has less to wait for."""
        self._timer = self._timer or asyncio.get_running_loop().call_later(_PAUSE, self._begin_ahead)

    def _begin_ahead(self) -> None:
        self._ahead = asyncio.create_task(asyncio.to_thread(self._sync_contents))

    def _sync_contents(self) -> None:
        with suppress(OSError):  # the next `sync` tries again
            self._sync_first()

    async def _end_ahead(self) -> None:
        timer, ahead, self._timer, self._ahead = self._timer, self._ahead, None, None
        if timer:
            timer.cancel()
        if ahead:
            await ahead

    def _make_safe(self) -> None:
        self._sync_first()
        os.fdatasync(self._file)
        if not self._synced:  # a new log may be in new folders, whose names must be synced too
            for folder in list(self.path.parents)[:3]:
                sync_path(folder)

    def close(self) -> None:
        """End the readers and release the lock."""
        for begun in (self._timer, self._ahead):
            if begun:
                begun.cancel()
        self.finish()
        self._reply.close()
        os.close(self._file)
        lock.give_back(self._lock)

    def _write(self, line: bytes) -> None:
        try:
            write_whole(self._file, line)
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> LogUnwritable:
        again = f"Free space or repair the disk, then continue with: halo -r {self.task}"
        safe = f"Everything up to event {self.seq} is safe. {again}"
        hint = safe if self.seq else "The task has not begun. Free space or repair the disk first."
        return LogUnwritable(f"Cannot write the task's log {self.path}: {error}.", hint)


def read_past(folder: Path, task: str) -> Iterator[DurableEvent]:
    """Yield the events of a task, after moving what was shown of a reply into its log if its process was killed.

    That is left out while a process writes the log, and where it cannot be written. Raises LogDamaged.
    """
    settle_log(folder, task)
    return read_log(folder / codec.LOG_NAME)


def settle_log(folder: Path, task: str) -> None:
    """Move what was shown of a reply into the log if its process was killed and none writes the log now."""
    if has_reply(folder) and lock.read_owner(folder) is None:
        with suppress(TaskBusy, TaskNotFound, LogUnwritable, LogDamaged, LogTooNew), closing(Log(folder, task)) as log:
            log.load()


def redact_event(event: D, redact: Callable[[str], str]) -> D:
    """Apply `redact` to each text of the event; its structure stays."""
    return msgspec.convert(secrets.redaction.each_text(msgspec.to_builtins(event), redact), type(event))


def _not_opened(folder: Path, error: OSError) -> LogUnwritable:
    return LogUnwritable(
        f"Cannot open a task's log in {folder}: {error.strerror or error}.",
        "Free space or check its permissions. Set HALOCLINE_HOME to use another folder.",
    )


def has_beginning(path: Path) -> bool:
    """True if a log has its first event whole, so that its task can be resumed."""
    with suppress(OSError), path.open("rb") as file:
        return file.readline().endswith(b"\n")
    return False


def _whole_and_torn(file: int) -> tuple[int, int]:
    """Return the bytes of a log in whole lines, and the bytes after them; reads only its end."""
    size = at = os.fstat(file).st_size
    tail = b""
    while at and b"\n" not in tail:
        at = max(0, at - _TAIL)
        tail = os.pread(file, _TAIL, at)
    whole = at + tail.rfind(b"\n") + 1
    return whole, size - whole
