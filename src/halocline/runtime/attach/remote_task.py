"""A task of another process, used as if it were open here: `stream`, `state` and `send`.

Durable events are read from the log itself, each line once; the writer's socket sends transient ones, and takes
commands. When the writer ends, this process becomes the writer, or attaches to a faster one: the lock decides.
With `while_asked` it takes over only if the task waits for a person, or has unsent commands.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from halocline.protocol import codec, commands as cmd, ipc
from halocline.protocol.errors import HaloclineError, TaskBusy, UsageError
from halocline.protocol.events import Durable, DurableEvent, Event, Noticed, TurnStarted
from halocline.protocol.events.jobs import JobInfo, JobState
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.protocol.waiting import wait_at_most
from halocline.runtime.attach import connection
from halocline.runtime.attach.sent import LOST, SentCommand, SentCommands
from halocline.runtime.attach.server import TOO_LATE
from halocline.task import lock
from halocline.task.log import Tail, read_log
from halocline.task.stream import Stream

OVER = "The process that ran this task has just ended."
ANSWER_LIMIT = 10.0
"""Seconds for the writer to answer a command. It does at once, unless it hangs or its machine is very busy."""
IDLE_LIMIT = 30.0
"""Seconds for the writer to start the turn of a prompt while no turn runs: a compaction may come first."""

Open = Callable[[], Awaitable[Stream]]


class Attached:
    """One attached task. `open_here` makes this process its writer; without it, this process only watches."""

    def __init__(
        self,
        folder: Path,
        task: str,
        me: ipc.Introduction,
        open_here: Open | None,
        send_here: Callable[[cmd.AnyCommand], Awaitable[bool]],
        *,
        while_asked: bool = False,
    ) -> None:
        path = folder / codec.LOG_NAME
        self.stream = Stream(lambda after: map(self._name_turn, read_log(path, after)))
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
        self._sent = SentCommands()
        self._stopping: set[str] = set()

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

        False for a command of the person's that was asked to stop before.

        Raises:
            TaskBusy: the writer is gone, and this process did not take over.
        """
        if isinstance(command, cmd.StopCommand):
            if command.run in self._stopping:
                return False
            self._stopping.add(command.run)
        self._pass(SentCommand(command))
        return True

    async def deliver(self, command: cmd.AnyCommand) -> None:
        """Send a command and wait for its outcome: that of a prompt whose turn has a name is that the turn begins.

        Raises:
            UsageError: the command was refused.
            TaskBusy: the writer does not answer, or is gone, and this process did not take over.
        """
        sent = SentCommand(command)
        self._pass(sent)
        try:
            if refused := await self._find_outcome(sent):
                raise UsageError(refused)
        finally:
            self._sent.forget(sent)

    async def _find_outcome(self, sent: SentCommand) -> str:
        """Wait until it is known what became of a command. Raises TaskBusy if the writer does nothing about it."""
        while not sent.answered.is_set():
            writer = self._writer
            await wait_at_most(ANSWER_LIMIT, sent.answered.wait())
            if not sent.answered.is_set() and writer is not None and writer is self._writer:
                raise self._describe_silence("does not answer")
        reached = -1
        while not (await asyncio.wait({sent.outcome}, timeout=IDLE_LIMIT))[0]:
            if self.state.turn is None and not self.state.compaction.running and self.state.seq == reached:
                raise self._describe_silence("did not start the turn of this prompt")
            reached = self.state.seq
        return sent.outcome.result()

    def _describe_silence(self, what: str) -> TaskBusy:
        return TaskBusy(
            f"Process {self.pid or 'unknown'}, which runs task {self._task}, {what}.",
            "Close that process, then load the task again.",
        )

    def _pass(self, sent: SentCommand) -> None:
        """Send a command, or keep it until there is a writer. Raises TaskBusy."""
        if self._is_over:
            raise TaskBusy(OVER, "Send it again.")
        if self._writer is None:
            self._sent.hold(sent)
        else:
            self._sent.expect_answer(sent)
            self._writer.write(connection.encode_line(sent.command))

    async def join(self) -> bool:
        """Connect to the writer. Return False if there is no other writer; then this process took over, if it may.

        Raises:
            TaskBusy: the writer refuses peers.
        """
        deadline = time.monotonic() + connection.PATIENCE
        while not await self._connect():
            if not self.pid:
                with suppress(TaskBusy):  # another process was faster
                    await self._take_over()
                    return False
            elif time.monotonic() > deadline:
                raise TaskBusy(
                    f"Task {self._task} is open in another process (pid {self.pid}), which accepts no connection.",
                    f"Close it there, or watch it from here: halo tasks show {self._task} --follow",
                )
            await asyncio.sleep(connection.PAUSE)
        return True

    async def follow(self) -> None:
        """Follow the writer and its successors. Raises what `join` and resuming a task raise."""
        try:
            await self._listen()
            while await self.join():
                await self._listen()
        except BaseException as error:
            self._sent.close(str(error) or OVER)
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
            self._sent.close(OVER)
            self.stream.finish()
            return
        if self.state.seq:
            self._read()
        own.attach(self)
        for sent in self._sent.take_unsent():
            sent.settle(await self._apply_here(sent.command))

    async def _apply_here(self, command: cmd.AnyCommand) -> str:
        """Apply a command in this process, the writer now; return why it was refused, or an empty string."""
        try:
            return "" if await self._send_here(command) else TOO_LATE
        except HaloclineError as error:
            refused = f"{error.text} {error.hint}".rstrip()
            self._learn(Noticed(refused))
            return refused

    @property
    def _is_needed(self) -> bool:
        return not self._while_asked or self.state.is_asking or self._sent.has_unsent

    async def _connect(self) -> bool:
        first = b""
        try:
            reader, writer = await connection.open_connection(self._folder)
        except OSError:
            return False
        try:
            writer.write(connection.encode_line(self._me))
            with suppress(OSError):
                first = await reader.readline()
        finally:
            if not first:
                await connection.close_connection(writer)
        if not first:
            return False
        self._reader, self._writer = reader, writer
        self._take(first)
        for sent in self._sent.take_unsent():
            self._pass(sent)
        return True

    async def _listen(self) -> None:
        """Read from the socket until it is closed, then read the rest from the log."""
        assert self._reader is not None
        with suppress(OSError, ValueError):
            while line := await self._reader.readline():
                self._take(line)
        await self.hang_up()
        self._read()
        if self._sent.lose_writer():
            self._learn(Noticed(LOST))

    def _take(self, line: bytes) -> None:
        with suppress(msgspec.DecodeError):  # a newer version may send more
            match connection.read_frame(line):
                case ipc.Reached(seq=seq):
                    self._read(seq)
                case ipc.Answered(refused=refused):
                    self._sent.answer(refused)
                    if refused:
                        self._learn(Noticed(refused))
                case event:
                    self._learn(event)

    def _read(self, up_to: int | None = None) -> None:
        for event in self._tail.read(up_to):
            self._learn(event)

    def _learn(self, event: Event) -> None:
        event = self._sent.follow(event)
        if isinstance(event, Durable):
            self.stream.seq = event.seq
        self.state = reduce_event(self.state, event)
        self.stream.show(event)

    def _name_turn(self, event: DurableEvent) -> DurableEvent:
        return self._sent.name_turn(event) if isinstance(event, TurnStarted) else event

    async def hang_up(self) -> None:
        """Close the connection, if there is one, even if `follow` was cancelled before it began."""
        writer, self._reader, self._writer = self._writer, None, None
        if writer is not None:
            await connection.close_connection(writer)
