"""A task of another process, used as if it were open here: `stream`, `state` and `send`.

Durable events are read from the log itself, each line once; the writer's socket sends transient ones, and takes
commands. When the writer ends, this process becomes the writer, or attaches to whoever was faster: the lock decides.
With `while_asked` it takes over only if the task waits for a person, or has unsent commands.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from halocline.protocol import codec, commands as cmd, ipc, json_input
from halocline.protocol.errors import TaskBusy
from halocline.protocol.events import Durable, Event, Noticed
from halocline.protocol.events.jobs import JobInfo, JobState
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.runtime.attach.server import FAREWELL, LONGEST_LINE, open_address
from halocline.task import lock
from halocline.task.log import Tail, read_log
from halocline.task.stream import Stream

PATIENCE = 5.0
"""Seconds to wait for a writer to open its socket or release its lock: it may be starting or ending."""
PAUSE = 0.02
OVER = "The process that ran this task has just ended."
LOST = "The process that ran this task has ended and may have missed your last command."

_frame = json_input.Decoder(ipc.Frame)
_encode = msgspec.json.Encoder().encode

Open = Callable[[], Awaitable[Stream]]


class Attached:
    """One attached task. `open_here` makes this process its writer; without it, this process only watches."""

    def __init__(
        self,
        folder: Path,
        task: str,
        me: ipc.Introduction,
        open_here: Open | None,
        send_here: Callable[[Any], bool],
        *,
        while_asked: bool = False,
    ) -> None:
        path = folder / codec.LOG_NAME
        self.stream = Stream(lambda after: read_log(path, after))
        self.state = State()
        self._folder = folder
        self._task = task
        self._me = me
        self._open_here = open_here
        self._send_here = send_here
        self._while_asked = while_asked
        self._is_over = False
        self._tail = Tail(path)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._unsent: list[cmd.AnyCommand] = []
        self._unanswered = 0

    @property
    def pid(self) -> str:
        """The pid of the process that writes the task; empty if there is none."""
        return (lock.read_owner(self._folder) or "").partition(" ")[0]

    @property
    def jobs(self) -> tuple[JobInfo, ...]:
        """The background commands there; their output is only visible there."""
        now = time.time()
        return tuple(
            JobInfo(job.job, job.command, JobState.IDLE, seconds=max(0.0, now - job.at))
            for job in self.state.jobs.running
        )

    def send(self, command: cmd.AnyCommand) -> bool:
        """Send a command to the writer. Events report its outcome, even if it came too late.

        Raises:
            TaskBusy: the writer is gone, and this process did not take over.
        """
        if self._is_over:
            raise TaskBusy(OVER, "Send it again.")
        if self._writer is None:
            self._unsent.append(command)
        else:
            self._unanswered += 1
            self._writer.write(_encode(command) + b"\n")
        return True

    async def join(self) -> bool:
        """Connect to the writer. Return False if there is no other writer; then this process took over, if it may.

        Raises:
            TaskBusy: the writer refuses peers.
        """
        deadline = time.monotonic() + PATIENCE
        while not await self._connect():
            if not self.pid:
                with suppress(TaskBusy):  # another process was faster
                    await self._take_over()
                    return False
            elif time.monotonic() > deadline:
                raise self._refused_connection()
            await asyncio.sleep(PAUSE)
        return True

    async def follow(self) -> None:
        """Follow the writer and its successors. Raises what `join` and resuming a task raise."""
        try:
            await self._listen()
            while await self.join():
                await self._listen()
        except BaseException:
            self.stream.finish()
            raise
        finally:
            await self.hang_up()

    def push(self, event: Event) -> None:
        """Apply an event of this process, which is the writer now."""
        self._learn(event)

    def close(self) -> None:
        self.stream.finish()

    async def _take_over(self) -> None:
        if self._while_asked:
            self._read()
        own = await self._open_here() if self._open_here and self._is_needed else None
        if own is None:
            self._is_over = True
            self.stream.finish()
            return
        if self.state.seq:
            self._read()
        own.attach(self)
        for command in self._unsent:
            self._send_here(command)

    @property
    def _is_needed(self) -> bool:
        return not self._while_asked or self.state.is_asking or bool(self._unsent)

    async def _connect(self) -> bool:
        first = b""
        try:
            reader, writer = await _open_connection(self._folder)
        except OSError:
            return False
        try:
            writer.write(_encode(self._me) + b"\n")
            with suppress(OSError):
                first = await reader.readline()
        finally:
            if not first:
                await _close_connection(writer)
        if not first:
            return False
        self._reader, self._writer, self._unanswered = reader, writer, 0
        self._take(first)
        unsent, self._unsent = self._unsent, []
        for command in unsent:
            self.send(command)
        return True

    async def _listen(self) -> None:
        """Read from the socket until it is closed, then read the rest from the log."""
        assert self._reader is not None
        with suppress(OSError, ValueError):
            while line := await self._reader.readline():
                self._take(line)
        await self.hang_up()
        self._read()
        if self._unanswered:
            self._learn(Noticed(LOST))

    def _take(self, line: bytes) -> None:
        with suppress(msgspec.DecodeError):  # a newer version may send more
            match _frame.decode(line):
                case ipc.Reached(seq=seq):
                    self._read(seq)
                case ipc.Answered(refused=refused):
                    self._unanswered -= 1
                    if refused:
                        self._learn(Noticed(refused))
                case event:
                    self._learn(event)

    def _read(self, up_to: int | None = None) -> None:
        for event in self._tail.read(up_to):
            self._learn(event)

    def _learn(self, event: Event) -> None:
        if isinstance(event, Durable):
            self.stream.seq = event.seq
        self.state = reduce_event(self.state, event)
        self.stream.show(event)

    async def hang_up(self) -> None:
        """Close the connection, if there is one, even if `follow` was cancelled before it began."""
        writer, self._reader, self._writer = self._writer, None, None
        if writer is not None:
            await _close_connection(writer)

    def _refused_connection(self) -> TaskBusy:
        return TaskBusy(
            f"Task {self._task} is open in another process (pid {self.pid}), which accepts no connection.",
            f"Close it there, or watch it from here: halo tasks show {self._task} --follow",
        )


async def _open_connection(folder: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    with open_address(folder) as name:
        return await asyncio.open_unix_connection(name, limit=LONGEST_LINE)


async def _close_connection(writer: asyncio.StreamWriter) -> None:
    """Close a connection and wait for it; pending data is sent first, unless the other end does not read."""
    writer.close()
    with suppress(OSError):
        try:
            async with asyncio.timeout(FAREWELL):
                await writer.wait_closed()
        except TimeoutError:
            writer.transport.abort()


async def deliver_command(folder: Path, command: cmd.AnyCommand, client: str) -> None:
    """Have a task's writer run one command, and wait until it has. Raises TaskBusy if it does not."""
    why = "accepts no connection."
    with suppress(OSError, ValueError, msgspec.DecodeError):
        reader, writer = await _open_connection(folder)
        try:
            writer.write(_encode(ipc.Introduction(client)) + b"\n" + _encode(command) + b"\n")
            while line := await reader.readline():
                if isinstance(answer := _frame.decode(line), ipc.Answered):
                    if not answer.refused:
                        return
                    why = f"refused: {answer.refused}"
                    break
        finally:
            await _close_connection(writer)
    pid = (lock.read_owner(folder) or "unknown").split()[0]
    raise TaskBusy(f"Task {folder.name} is open in another process (pid {pid}), which {why}", "Close it there.")
