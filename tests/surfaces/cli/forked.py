"""`halo` as a process that `fork_server` forks, with what tests use of `asyncio.subprocess.Process`.

It differs from a `halo` that was started by its name in what Python does before a program's first line, and in the
command line that `ps` prints. Who tests that, or gives other streams than pipes or a terminal, starts a process as
usual. `forked_terminal.py` has those on a terminal.
"""

import asyncio
import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

from tests.surfaces.cli import fork_server

ROOT = Path(__file__).parents[3]
HALO = (sys.executable, "-m", "halocline")
CAN_FORK = hasattr(os, "pidfd_open")
"""Linux; elsewhere each command is started by its name."""
LIMIT = 100.0
"""Seconds in which the fork server answers, its own start included."""
USUAL_LIMIT = 2**16
"""Bytes that a line may have that is read from a process."""
READ_BY_PYTHON = ("PYTHON", "LANG", "LC_", "MALLOC_", "LD_")
"""How the variables begin that are read before a program's first line."""


class Forked:
    """A running process."""

    def __init__(self, pid: int, end: asyncio.StreamReader, end_writer: asyncio.StreamWriter) -> None:
        self.pid = pid
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._end = asyncio.ensure_future(_read_code(end, end_writer))

    @property
    def returncode(self) -> int | None:
        return self._end.result() if self._end.done() and not self._end.cancelled() else None

    async def wait(self) -> int:
        return await asyncio.shield(self._end)

    async def communicate(self, data: bytes | None = None) -> tuple[bytes | None, bytes | None]:
        _, out, err = await asyncio.gather(self._write(data), _read(self.stdout), _read(self.stderr))
        await self.wait()
        return out, err

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):  # it has ended, and the answer is on its way
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def _write(self, data: bytes | None) -> None:
        if self.stdin:
            with suppress(BrokenPipeError, ConnectionResetError):
                self.stdin.write(data or b"")
                await self.stdin.drain()
            self.stdin.close()


class ForkServer:
    """The process that forks. It ends with the process that asks it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._usual = _read_by_python(environment)
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", fork_server.__name__, str(theirs.fileno())],
                cwd=ROOT,
                env=dict(environment),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def with_modules(self, modules: Sequence[str]) -> "ForkServer":
        """Return a fork of it that has also imported these."""
        server = copy(self)
        server._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._send(json.dumps({"modules": modules}).encode(), [theirs.detach()]).close()
        return server

    @property
    def fd(self) -> int:
        """The socket that `fork_client` asks, for a process that inherits it."""
        return self._requests.fileno()

    def close(self) -> None:
        self._requests.close()
        self._process.wait()

    async def start(
        self,
        words: Sequence[str | bytes],
        env: Mapping[str, str],
        cwd: Path,
        streams: Sequence[int],
        limit: int = USUAL_LIMIT,
    ) -> Forked | None:
        """None if a fork cannot be like that."""
        request = self._encode(words, env, cwd) if set(streams) <= {PIPE, DEVNULL} else None
        if request is None:
            return None
        ours, others = _open_streams(streams)
        end = await asyncio.open_connection(sock=self._send(request, others))
        async with asyncio.timeout(LIMIT):
            pid = await end[0].readline()
        assert pid, "the fork server has ended; its error is in the output"
        forked = Forked(int(pid), *end)
        forked.stdin = await _writer(ours[0])
        forked.stdout, forked.stderr = [await _reader(fd, limit) for fd in ours[1:]]
        return forked

    def start_on(
        self, terminal: int, words: Sequence[str], env: Mapping[str, str], cwd: str
    ) -> tuple[int, socket.socket] | None:
        """Start it as the leader of the session of a terminal. Return its id, and what will read its exit code."""
        request = self._encode(words, env, cwd)
        if request is None:
            return None
        answers = self._send(request, [os.dup(terminal) for _ in range(3)])
        if not select.select([answers], [], [], LIMIT)[0]:
            raise TimeoutError("timed out: the fork server does not answer")
        pid = b""
        while not pid.endswith(b"\n"):
            byte = answers.recv(1)
            assert byte, "the fork server has ended; its error is in the output"
            pid += byte
        return int(pid), answers

    def _encode(self, words: Sequence[str | bytes], env: Mapping[str, str], cwd: Path | str) -> bytes | None:
        request = {"words": [os.fsdecode(word) for word in words], "env": dict(env), "cwd": str(cwd)}
        message = json.dumps(request).encode()
        possible = _read_by_python(env) == self._usual and len(message) <= fork_server.LARGEST_REQUEST
        return message if possible else None

    def _send(self, request: bytes, streams: Sequence[int]) -> socket.socket:
        """Give the streams away with the request. Return what reads the answers."""
        answers, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._requests, [request], [theirs.fileno(), *streams])
        for fd in streams:
            os.close(fd)
        return answers


async def start_halo(
    words: Sequence[str | bytes],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: int = PIPE,
    stdout: int = PIPE,
    stderr: int = PIPE,
    limit: int = USUAL_LIMIT,
    modules: Sequence[str] = (),
    **more: Any,
) -> Process | Forked:
    """Start it, by a fork where that makes no difference. `modules` are what this command imports beside the usual."""
    server = shared_fork_server(*modules) if not more else None
    if server and (forked := await server.start(words, env, cwd, (stdin, stdout, stderr), limit)):
        return forked
    streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
    return await asyncio.create_subprocess_exec(*HALO, *words, env=env, cwd=cwd, limit=limit, **streams, **more)


@cache
def shared_fork_server(*modules: str) -> ForkServer | None:
    """The one of this process, which ends with it; none where nothing can be forked."""
    if not CAN_FORK:
        return None
    if modules:
        usual = shared_fork_server()
        assert usual
        return usual.with_modules(modules)
    server = ForkServer({"PATH": os.environ["PATH"], "LANG": "C.UTF-8"})
    atexit.register(server.close)
    return server


def _read_by_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(READ_BY_PYTHON)}


def _open_streams(kinds: Iterable[int]) -> tuple[list[int], list[int]]:
    """Our ends (-1: none) and theirs of the standard streams."""
    ours, theirs = [], []
    for number, kind in enumerate(kinds):
        ends = os.pipe() if kind == PIPE else (os.open(os.devnull, os.O_RDWR), -1)
        theirs.append(ends[number > 0] if kind == PIPE else ends[0])
        ours.append(ends[number == 0] if kind == PIPE else -1)
    return ours, theirs


async def _writer(fd: int) -> asyncio.StreamWriter | None:
    if fd < 0:
        return None
    loop = asyncio.get_running_loop()
    protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(fd, "wb", 0))
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _reader(fd: int, limit: int) -> asyncio.StreamReader | None:
    if fd < 0:
        return None
    reader = asyncio.StreamReader(limit)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0)
    )
    return reader


async def _read(stream: asyncio.StreamReader | None) -> bytes | None:
    return await stream.read() if stream else None


async def _read_code(end: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    try:
        return int(await end.readline())
    finally:
        writer.close()
