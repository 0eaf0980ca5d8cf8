"""A running command: its session of processes, and the pipe or terminal that carries their output."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from halocline.hosts.shell import readiness
from halocline.hosts.shell.output import Capture
from halocline.hosts.shell.processes import KEEPER_KILLED, KILLED, Process
from halocline.protocol.waiting import wait_at_most, wait_until

_DRAIN_QUIET = 0.1
_LONGEST_DRAIN = 1.0
_LATE_END = 5.0
"""Seconds for the end of a terminal's output that no process holds any more, or of a process that was killed: they come
late on a busy machine."""
_POLL = 0.05
_CHUNK = 1 << 18
_CHUNKS_PER_WAKE = 16
_NEWEST, _RECENT = 2_048, 65_536

OnOutput = Callable[[bytes], object]


class Job:
    """A process and the descriptor of its output, which the running event loop reads."""

    def __init__(
        self, process: Process, output: int, capture: Capture, on_output: OnOutput, *, terminal: bool, mark: bytes = b""
    ) -> None:
        """`mark` is an entry in the environment of this command's processes and no others."""
        self._loop = asyncio.get_running_loop()
        self._leader, self._keeper = process.pid, process.keeper
        self._mark = mark
        self._exited = process.exited
        self._output: int | None = output
        self._on_output: OnOutput | None = on_output
        self._activity = asyncio.Event()
        self._newest = b""
        self._recent = bytearray()
        self.capture = capture
        self.terminal = terminal
        self.full_screen = False
        self.ports: tuple[int, ...] = ()
        """The TCP ports on which it listened when `find_ports` looked last."""
        self.began = self.spoke = self._loop.time()
        os.set_blocking(output, False)
        self._loop.add_reader(output, self._read)

    @property
    def exit_code(self) -> int | None:
        """None while the shell runs; a negative signal number if a signal killed it."""
        return self._exited.result() if self._exited.done() else None

    @property
    def loss(self) -> str:
        """Why it was killed, if that is because the keeper was; else empty."""
        is_lost = self.exit_code == KILLED and not _does_exist(os.kill, self._keeper)
        return f"{KEEPER_KILLED}, and its running commands with it; the next one starts another" if is_lost else ""

    @property
    def is_open(self) -> bool:
        """True while a process still holds the other end of its output."""
        return self._output is not None

    @property
    def newest(self) -> bytes:
        """The last 2 kB of its output, unchanged."""
        return self._newest

    @property
    def recent(self) -> bytes:
        """Up to the last 128 kB of its output, unchanged, from the beginning of a line."""
        data = bytes(self._recent)
        return data if self.capture.total <= len(data) else data[data.find(b"\n") + 1 :]

    @property
    def quiet(self) -> float:
        """Seconds since it last printed something, or since it began."""
        return self._loop.time() - self.spoke

    async def find_ports(self) -> None:
        """Find out on which ports it listens now."""
        self.ports = await asyncio.to_thread(readiness.listening_ports, self._leader, self._keeper)

    async def ends(self, seconds: float | None, or_else: asyncio.Future[Any] | None = None) -> bool:
        """Wait until the shell ends, `or_else` is done or the time is up. True if the shell ended."""
        waited: list[asyncio.Future[Any]] = [self._exited, or_else] if or_else else [self._exited]
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return self._exited.done()

    async def speaks(self, seconds: float) -> None:
        """Wait for output or the end, at most `seconds`."""
        self._activity.clear()
        activity = asyncio.ensure_future(self._activity.wait())
        waited: list[asyncio.Future[Any]] = [self._exited, activity]
        try:
            await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            activity.cancel()

    async def drain(self) -> None:
        """After the end, read what is in the pipe, until a child that holds it is quiet briefly."""
        longest = _LATE_END if self.terminal and not await self._find_groups() else _LONGEST_DRAIN
        quiet = longest if self.terminal else _DRAIN_QUIET  # a terminal may deliver late
        deadline = self._loop.time() + longest
        while self._read() and self._loop.time() < deadline:
            self._activity.clear()
            await wait_at_most(quiet, self._activity.wait())
            if not self._activity.is_set():
                return

    async def closes(self) -> None:
        """Wait until no process holds its output."""
        while self.is_open:
            self._activity.clear()
            await self._activity.wait()

    def type(self, data: bytes) -> int:
        """Write input to its terminal; return the number of bytes it took."""
        if self._output is None:
            return 0
        try:
            return os.write(self._output, data)
        except OSError:
            return 0

    async def is_stuck(self) -> bool:
        """True if none of its processes used the CPU during 0.2 seconds."""
        before = await self._list_members()
        await asyncio.sleep(0.2)
        after = await self._list_members()
        return bool(before and after) and readiness.count_ticks(after or ()) == readiness.count_ticks(before or ())

    async def stop(self, grace: float) -> None:
        """Ask all its processes to end; kill those still running after `grace` seconds, and wait until they are gone.

        Some may never go: another user's, or one that waits for a disk.
        """
        known = self._own_group()  # needs no search, which may take longer than the grace on a busy machine
        try:
            _signal_groups(known, signal.SIGTERM)
            await wait_until(partial(self._ask_to_end, known), grace, _POLL)
        finally:
            _signal_groups(known, signal.SIGKILL)
        await wait_until(self._kill_rest, _LATE_END, _POLL)

    async def abort(self, grace: float) -> None:
        """Stop it and close its output."""
        try:
            await self.stop(grace)
        finally:
            self.close()

    def stop_progress(self) -> None:
        """Stop passing output on while it runs; it is still captured."""
        self._on_output = None

    def close(self) -> None:
        """Close its output."""
        if self._output is not None:
            self._loop.remove_reader(self._output)
            os.close(self._output)
            self._output = None
            self._activity.set()

    def _read(self) -> bool:
        """Read what is there, a bounded amount at a time. False once every writer has closed."""
        for _ in range(_CHUNKS_PER_WAKE):
            if self._output is None:
                return False
            try:
                chunk = _read_chunk(self._output)
            except BlockingIOError:
                return True
            if not chunk:
                self.close()
                return False
            self._take(chunk)
        return True

    def _take(self, chunk: bytes) -> None:
        self.spoke = self._loop.time()
        self.capture.feed(chunk)
        self._newest = (self._newest + chunk[-_NEWEST:])[-_NEWEST:]
        self._recent += chunk[-_RECENT:]
        if len(self._recent) > 2 * _RECENT:
            del self._recent[:-_RECENT]
        if self.terminal and readiness.is_full_screen(chunk):
            self.full_screen = True
        if self._on_output is not None:
            self._on_output(chunk)
        self._activity.set()

    async def _ask_to_end(self, known: set[int]) -> bool:
        """Ask the groups that are not yet known to end, and note them. True if none runs."""
        found = await self._find_groups()
        _signal_groups(found - known, signal.SIGTERM)
        known |= found
        return not found

    async def _kill_rest(self) -> bool:
        """Kill what still runs. True if there was nothing."""
        found = await self._find_groups()
        _signal_groups(found, signal.SIGKILL)
        return self._exited.done() and not found

    async def _find_groups(self) -> set[int]:
        """The process groups that still run, including those that left the session, as far as the system shows them."""
        found = await self._list_members()
        if found is not None:
            return {member.group for member in found}
        return {group for group in self._own_group() if _does_exist(os.killpg, group)}

    async def _list_members(self) -> list[readiness.Member] | None:
        session = next(iter(self._own_group()), -1)
        return await asyncio.to_thread(readiness.list_members, session, self._mark, self._keeper)

    def _own_group(self) -> set[int]:
        """The group of the leader, unless the leader is gone and its number belongs to an unrelated process."""
        return set() if self._exited.done() and _does_exist(os.kill, self._leader) else {self._leader}


def _signal_groups(groups: Iterable[int], number: signal.Signals) -> None:
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def _read_chunk(file: int) -> bytes:
    """Read what is there; nothing once every writer has closed. Raises BlockingIOError."""
    for _ in range(2):  # a terminal that was just closed can report its end before the last words
        try:
            return os.read(file, _CHUNK)
        except BlockingIOError:
            raise
        except OSError:
            continue
    return b""


def _does_exist(send: Callable[[int, int], None], number: int) -> bool:
    try:
        send(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
