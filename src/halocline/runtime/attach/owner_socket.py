"""A Unix socket in a private folder, for processes of its owner.

What must stay true: another user, and a process that a task started, such as a command of the model, are never
admitted.
"""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import msgspec

from halocline.hosts.shell.ancestry import Unknown, find_peer, find_task_above
from halocline.protocol.waiting import end_tasks

SOCKET = "door"
"""Name of the socket in its folder, which is private to the person."""
LONGEST_NAME = 100
"""Bytes of a socket's name that every kernel accepts; a home's path can be longer."""
LONGEST_LINE = 64 * 2**20
"""Largest line in bytes: a prompt may contain images."""
FAREWELL = 1.0
"""Seconds for peers to read the end."""


@contextmanager
def open_address(folder: Path) -> Iterator[str]:
    """Yield a name for the folder's socket that is short enough for the kernel."""
    path = str(folder / SOCKET)
    if len(os.fsencode(path)) <= LONGEST_NAME:
        yield path
        return
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{file}/{SOCKET}"
    finally:
        os.close(file)


class OwnerSocket:
    """A socket in `folder`, open within `async with`. Processes of tasks in `home` are not admitted."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._path = folder / SOCKET
        self._home = home
        self._peers: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def serve_process(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve an admitted process. Raises OSError, ValueError and DecodeError if it does not speak the protocol."""
        raise NotImplementedError

    def note_refused(self, pid: int) -> None:
        """Note that a process of a task was refused."""

    async def __aenter__(self) -> Self:
        """Open the socket. Raises OSError if none can be made; then no process can connect."""
        listening = socket.socket(socket.AF_UNIX)
        try:
            self._path.unlink(missing_ok=True)
            with open_address(self._path.parent) as name:
                listening.bind(name)
                os.chmod(name, 0o600)
            self._server = await asyncio.start_unix_server(self._receive, sock=listening, limit=LONGEST_LINE)
        except BaseException:
            listening.close()
            self._path.unlink(missing_ok=True)
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Let every peer read the end. The socket is removed before the lock: the next one is another process's."""
        self._path.unlink(missing_ok=True)
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._peers:
            await asyncio.wait(self._peers, timeout=FAREWELL)
        await end_tasks(*self._peers)

    @property
    def is_serving(self) -> bool:
        """True while a process is connected."""
        return bool(self._peers)

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving = asyncio.current_task()
        assert serving is not None
        self._peers.add(serving)
        try:
            if pid := await self._admit(writer.get_extra_info("socket")):
                await self.serve_process(pid, reader, writer)
        except (OSError, ValueError, msgspec.DecodeError):
            pass  # it left, or does not speak our protocol
        finally:
            self._peers.discard(serving)
            writer.close()

    async def _admit(self, connection: socket.socket) -> int:
        """Return the pid of the person's process at the other end; 0 if it is not admitted. Raises OSError."""
        pid, user, is_there = find_peer(connection)
        try:
            task = await asyncio.to_thread(find_task_above, pid, self._home) if user == os.geteuid() else 0
        except Unknown:
            task = 0
        if is_there() and task is None:
            return pid
        if task:
            self.note_refused(pid)
        return 0
