"""Starts commands through the keeper, the parent process of all of a task's processes (`hosts.keeper`).

The keeper starts with the first command and ends when no process has lived below it for a while; the next command
starts another. Its processes end with it, and it ends when the socket to it closes.
"""

import asyncio
import errno
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from halocline.hosts.keeper import REFUSED, REQUEST, RESTS
from halocline.hosts.shell.keeper_line import PULSE, Line, Reply
from halocline.protocol.child_environment import ChildEnvironment
from halocline.protocol.values import Value

_LONGEST_START = 1.0
KILLED = -int(signal.SIGKILL)
KEEPER_KILLED = "the process that starts this task's commands was killed (by a command, or because memory ran out)"
REST = 20.0
"""Seconds without a process after which the keeper ends."""


class Process(Value, frozen=True):
    """The leader of a new session. `exited` gives its exit code, negative for a signal; the keeper is its parent."""

    pid: int
    exited: asyncio.Future[int]
    keeper: int

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to all processes of the session that did not leave its first group."""
        _signal_group(self.pid, number)


class Processes:
    """The processes of one task. `environment` is the keeper's; each command gets its own.

    The keeper ends after `rest` seconds without a process.
    """

    def __init__(self, environment: ChildEnvironment, rest: float = REST) -> None:
        self._environment = environment
        self._rest = rest
        self._until_rest: asyncio.TimerHandle | None = None
        self._asked_to_rest: asyncio.Future[None] | None = None
        self._line: Line | None = None
        self._running: dict[int, asyncio.Future[int]] = {}
        self._beat: asyncio.TimerHandle | None = None

    async def ready(self) -> None:
        """Make sure that a keeper runs. Raises OSError when it cannot be started."""
        if self._asked_to_rest:
            await asyncio.shield(self._asked_to_rest)
        await asyncio.shield(self.begin())  # the caller may be cancelled
        self._plan_rest()

    def begin(self) -> "asyncio.Future[None]":
        """Begin to start a keeper, unless one runs; what is returned is done once it listens. Raises OSError."""
        if self._line is None:
            self._line = Line(self._environment, self._note_exit, self._kill_commands)
            self._line.stands.add_done_callback(lambda _: self._plan_rest())
        return self._line.stands

    async def start(
        self,
        arguments: Sequence[str],
        environment: ChildEnvironment,
        folder: str,
        fds: tuple[int, ...],
        terminal: bool,
        patient: bool = False,
        program: str = "",
    ) -> Process:
        """Start a process in a new session; `fds` are its output or terminal, and the file for its state.

        A third one is a system call filter. A `patient` process ignores signals that ask it to end. `program` is its
        file, if that is not its first argument. When this is cancelled, a process that started all the same is killed.

        Raises:
            OSError: it cannot be started.
            ValueError: an argument, the environment or the folder contains a NUL.
        """
        words = [folder, program or arguments[0], *arguments, *map("=".join, environment.items())]
        if any("\0" in word for word in words):
            raise ValueError("embedded null byte")
        body = b"\0".join(map(os.fsencode, words))
        head = REQUEST.pack(len(body), len(arguments), terminal, patient)
        started = await self._send(head, fds, body)
        try:
            return await asyncio.shield(started)
        except asyncio.CancelledError:
            await _kill_started(started)
            raise

    async def _send(self, head: bytes, fds: tuple[int, ...], body: bytes) -> "asyncio.Future[Process]":
        """Send a request, to another keeper if this one was killed just now. Raises OSError."""
        started: asyncio.Future[Process] = asyncio.get_running_loop().create_future()
        try:
            if self._line is None:
                raise BrokenPipeError
            self._line.send(head, fds, body, partial(self._note_start, started))
        except OSError:
            if self._line:
                self._line.lose()
            await self.ready()
            if self._line is None:
                raise
            self._line.send(head, fds, body, partial(self._note_start, started))
        return started

    def _note_start(self, started: "asyncio.Future[Process]", reply: "Reply | None") -> None:
        kind, pid, value = reply or (REFUSED, 0, errno.EPIPE)
        if kind == REFUSED:
            if not started.done():
                started.set_exception(OSError(value, os.strerror(value)))
            return
        self._running[pid] = asyncio.get_running_loop().create_future()
        self._pulse()
        if started.done():  # nobody waits for it any more
            _signal_group(pid, signal.SIGKILL)
        else:
            started.set_result(Process(pid, self._running[pid], self._line.pid if self._line else 0))

    def _pulse(self) -> None:
        """Keep the keeper running while a process does: a command may stop it, on purpose or by mistake."""
        if self._line is not None and self._running:
            self._line.go_on()
            if self._beat:
                self._beat.cancel()
            self._beat = asyncio.get_running_loop().call_later(PULSE, self._pulse)

    def _plan_rest(self) -> None:
        if self._until_rest:
            self._until_rest.cancel()
        self._until_rest = asyncio.get_running_loop().call_later(self._rest, self._let_rest)

    def _let_rest(self) -> None:
        """End the keeper, unless a process runs or a command left one behind."""
        if self._running or self._line is None:
            return
        if not self._line.stands.done() or self._line.is_asked:
            self._plan_rest()
            return
        with suppress(OSError):  # it is gone; `_kill_commands` handles that
            self._line.send(REQUEST.pack(0, 0, 0, 0), (), b"", self._note_rest)
            self._asked_to_rest = asyncio.get_running_loop().create_future()

    def _note_rest(self, reply: "Reply | None") -> None:
        if self._asked_to_rest:
            self._asked_to_rest.set_result(None)
            self._asked_to_rest = None
        if reply is None or self._line is None:
            return
        if reply[0] != RESTS:
            self._plan_rest()
            return
        self._line.let_go()
        self._line = None

    async def close(self) -> None:
        """End every process that was started, with its descendants, and wait until they are gone."""
        line, self._line = self._line, None
        for timer in filter(None, (self._beat, self._until_rest)):
            timer.cancel()
        if line is not None:
            await line.close()
        self._kill_commands()  # a keeper that is killed just now reports no end, but there are those who wait for it

    def _note_exit(self, pid: int, code: int) -> None:
        exited = self._running.pop(pid)
        self._plan_rest()
        if not exited.done():
            exited.set_result(code)

    def _kill_commands(self) -> None:
        """Kill the commands of a keeper that was killed: their end could not be seen."""
        self._line = None
        for pid in list(self._running):
            _signal_group(pid, signal.SIGKILL)
            self._note_exit(pid, KILLED)


async def _kill_started(started: "asyncio.Future[Process]") -> None:
    """Kill the process that is being started, and wait until it is gone; a keeper that takes long does so later."""
    try:
        await asyncio.wait([started], timeout=_LONGEST_START)
    finally:
        is_late = started.cancel()
    if not is_late and started.exception() is None:
        _signal_group(started.result().pid, signal.SIGKILL)
        await asyncio.wait([started.result().exited], timeout=_LONGEST_START)


def _signal_group(leader: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
