"""A task that another process writes, as if it were open here: `stream`, `state` and `send`.

What is written is read from the log itself, each line once; the writer's door gives what is never written, and takes
commands. When the writer ends, this process becomes the writer, or joins whoever was faster: the lock decides. One that
stays only `while_asked` leaves a task to nobody, unless a person is asked something or has sent something.
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
from halocline.protocol.jobs import JobInfo, JobState
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.runtime.attach.server import FAREWELL, LONGEST_LINE, open_address
from halocline.task import lock
from halocline.task.log import Tail, read_log
from halocline.task.stream import Stream

PATIENCE = 5.0
"""Seconds in which a writer opens its door or gives its lock back: it may be beginning, or ending."""
PAUSE = 0.02
OVER = "The process that ran this task ended just now."
LOST = "The process that ran this task ended, and may not have taken what was sent last."

_frame = json_input.Decoder(ipc.Frame)
_encode = msgspec.json.Encoder().encode

Open = Callable[[], Awaitable[Stream]]


class Attached:
    """One task. `open_here` makes this process its writer; without it, this one only watches."""

    def __init__(
        self,
        folder: Path,
        task: str,
        me: ipc.Joining,
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
        """The process that writes the task; empty when none does."""
        return (lock.read_owner(self._folder) or "").partition(" ")[0]

    @property
    def jobs(self) -> tuple[JobInfo, ...]:
        """The commands that go on there; what they print is seen there only."""
        now = time.time()
        return tuple(
            JobInfo(job.job, job.command, JobState.IDLE, seconds=max(0.0, now - job.at)) for job in self.state.jobs
        )

    def send(self, command: cmd.AnyCommand) -> bool:
        """Pass a command to the writer. What becomes of it is told by events; that it came too late, too.

        Raises:
            TaskBusy: there is no writer any more, and this process is none.
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
        """Find the writer's door; False when there is no other writer (any more): this process is it, if it may be.

        Raises:
            TaskBusy: the writer lets nobody join.
        """
        deadline = time.monotonic() + PATIENCE
        while not await self._connected():
            if not self.pid:
                with suppress(TaskBusy):  # somebody was faster
                    await self._take_over()
                    return False
            elif time.monotonic() > deadline:
                raise self._closed_door()
            await asyncio.sleep(PAUSE)
        return True

    async def follow(self) -> None:
        """Keep up with the writer, and with who writes after it. Raises what `join` and the opening of a task do."""
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
        """This process is the writer now, and hears itself."""
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

    async def _connected(self) -> bool:
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
        """Take in what the door says, until it is closed; then the log tells the rest."""
        assert self._reader is not None
        with suppress(OSError, ValueError):
            while line := await self._reader.readline():
                self._take(line)
        await self.hang_up()
        self._read()
        if self._unanswered:
            self._learn(Noticed(LOST))

    def _take(self, line: bytes) -> None:
        with suppress(msgspec.DecodeError):  # a newer version may say more
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
        """Close the connection, if there is one: also where `follow` was cancelled before it began."""
        writer, self._reader, self._writer = self._writer, None, None
        if writer is not None:
            await _close_connection(writer)

    def _closed_door(self) -> TaskBusy:
        return TaskBusy(
            f"Task {self._task} is open in another process (pid {self.pid}), which lets nobody join.",
            f"Close it there, or watch it from here with: halo tasks show {self._task} --follow",
        )


async def _open_connection(folder: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    with open_address(folder) as name:
        return await asyncio.open_unix_connection(name, limit=LONGEST_LINE)


async def _close_connection(writer: asyncio.StreamWriter) -> None:
    """Close a connection and wait until it is: what was written goes out first, unless nobody reads it."""
    writer.close()
    with suppress(OSError):
        try:
            async with asyncio.timeout(FAREWELL):
                await writer.wait_closed()
        except TimeoutError:
            writer.transport.abort()


async def passed_on(folder: Path, command: cmd.AnyCommand, client: str) -> None:
    """Have a task's writer do one thing, and wait until it has. Raises TaskBusy when it does not."""
    why = "lets nobody in"
    with suppress(OSError, ValueError, msgspec.DecodeError):
        reader, writer = await _open_connection(folder)
        try:
            writer.write(_encode(ipc.Joining(client)) + b"\n" + _encode(command) + b"\n")
            while line := await reader.readline():
                if isinstance(answer := _frame.decode(line), ipc.Answered):
                    if not answer.refused:
                        return
                    why = f"says: {answer.refused}"
                    break
        finally:
            await _close_connection(writer)
    pid = (lock.read_owner(folder) or "unknown").split()[0]
    raise TaskBusy(f"Task {folder.name} is open in another process (pid {pid}), which {why}", "Close it there.")
