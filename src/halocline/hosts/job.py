"""A command that runs: its process group, and the pipe that carries what the group prints."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

_QUIET = 0.1
_LONGEST_DRAIN = 1.0
_POLL = 0.02
_CHUNK = 1 << 16
_CHUNKS_PER_WAKE = 16


class Job:
    """Made around a process that leads its own group. `pipe` is read without blocking, by the running event loop."""

    def __init__(self, process: subprocess.Popen[bytes], pipe: int, on_chunk: Callable[[bytes], object]) -> None:
        self._loop = asyncio.get_running_loop()
        self._group = process.pid
        self._on_chunk = on_chunk
        self._news = asyncio.Event()
        self._pipe: int | None = pipe
        self._exited = exit_by_pidfd(process) or exit_by_thread(process)
        os.set_blocking(pipe, False)
        self._loop.add_reader(pipe, self._read)

    @property
    def exit_code(self) -> int | None:
        """None while the shell runs; negative when it died of that signal."""
        return self._exited.result() if self._exited.done() else None

    @property
    def is_loose(self) -> bool:
        """Whether something of it is left: a process of the group, or one elsewhere that holds the pipe."""
        return self._pipe is not None or self._is_alive()

    async def ends_within(self, seconds: float | None) -> bool:
        """Wait for the shell's end, at most so long."""
        done, _ = await asyncio.wait([self._exited], timeout=seconds)
        return bool(done)

    async def drain(self) -> None:
        """After the end: take what is in the pipe, until a background child that holds it is quiet for a moment."""
        deadline = self._loop.time() + _LONGEST_DRAIN
        while self._read() and self._loop.time() < deadline:
            self._news.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), _QUIET)
            if not self._news.is_set():
                return

    async def stop(self, grace: float) -> None:
        """Ask the whole group to end, and kill it when it has not after `grace` seconds."""
        try:
            self._signal(signal.SIGTERM)
            for _ in range(int(grace / _POLL)):
                if not self._is_alive():
                    break
                await asyncio.sleep(_POLL)
        finally:
            self._signal(signal.SIGKILL)
        await asyncio.wait([self._exited])

    async def abort(self, grace: float) -> None:
        """Stop the group and let go of the pipe."""
        try:
            await self.stop(grace)
        finally:
            self.close()

    def ignore_output(self) -> None:
        """Read on, so that a background child does not die of a closed pipe, but drop what comes."""
        self._on_chunk = len

    def close(self) -> None:
        """Let go of the pipe."""
        if self._pipe is not None:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None

    def _read(self) -> bool:
        """Take what is there, a bounded amount at a time. False once every writer has closed."""
        for _ in range(_CHUNKS_PER_WAKE):
            if self._pipe is None:
                return False
            try:
                chunk = os.read(self._pipe, _CHUNK)
            except BlockingIOError:
                return True
            if not chunk:
                self.close()
                return False
            self._on_chunk(chunk)
            self._news.set()
        return True

    def _is_alive(self) -> bool:
        """Whether a process of the group runs. Once its leader is gone, a process of that number is a stranger's."""
        if self._exited.done() and _exists(os.kill, self._group):
            return False
        return _exists(os.killpg, self._group) and not _has_only_zombies(self._group)

    def _signal(self, number: signal.Signals) -> None:
        if self._is_alive():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)


def _exists(send: Callable[[int, int], None], number: int) -> bool:
    try:
        send(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _has_only_zombies(group: int) -> bool:
    """Whether all of a group ended and nobody collected it, as in a container without init; False without /proc."""
    states = [state for number, state in _states() if number == group]
    return bool(states) and all(state in ("Z", "X") for state in states)


def _states() -> Iterator[tuple[int, str]]:
    """The group and the state of every process that /proc shows."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name before the last parenthesis may itself hold blanks and parentheses.
            state, _, group, *_ = stat.read_bytes().rpartition(b")")[2].decode("ascii").split()
            yield int(group), state


def exit_by_pidfd(process: subprocess.Popen[bytes]) -> asyncio.Future[int] | None:
    """The exit code to come, by a descriptor the event loop watches; None where the system has none."""
    loop = asyncio.get_running_loop()
    exited: asyncio.Future[int] = loop.create_future()
    try:
        fd = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return None

    def reap() -> None:
        loop.remove_reader(fd)
        os.close(fd)
        exited.set_result(process.wait())

    loop.add_reader(fd, reap)
    return exited


def exit_by_thread(process: subprocess.Popen[bytes]) -> asyncio.Future[int]:
    """The exit code to come, by a thread that waits."""
    return asyncio.get_running_loop().run_in_executor(None, process.wait)
