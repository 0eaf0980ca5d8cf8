"""The socket of an open task: other processes of this person watch and control the task through it.

Only the holder of the log's lock opens a socket. Processes that a task started, such as a command of the model, are
never admitted, and approvals can be reduced only where the task runs. A slow peer costs a bounded queue, and never
delays the task.
"""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from halocline.hosts.shell.ancestry import Unknown, find_peer, find_task_above
from halocline.protocol import commands as cmd, ipc, json_input, json_output
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import Durable, Event, Noticed
from halocline.protocol.waiting import end_tasks
from halocline.runtime.loosening import Loosening, find_loosening
from halocline.task.stream import EventQueue, Stream

if TYPE_CHECKING:
    from halocline.task.task import Task

SOCKET = "door"
"""Name of the socket in the task's folder, which is private to the person."""
LONGEST_NAME = 100
"""Bytes of a socket's name that every kernel accepts; a home's path can be longer."""
LONGEST_LINE = 64 * 2**20
"""Largest command in bytes: a prompt may contain images."""
FAREWELL = 1.0
"""Seconds for peers to read the end."""
TOO_LATE = "Too late: this was already decided."

_command = json_input.Decoder(cmd.AnyCommand)
_joining = json_input.Decoder(ipc.Introduction)


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


class TaskSocket:
    """The socket of a task, open within `async with`. `send` applies a command."""

    def __init__(self, task: "Task", send: Callable[[cmd.AnyCommand], Awaitable[bool]]) -> None:
        self._task = task
        self._send = send
        self._path = task.log.path.parent / SOCKET
        self._peers: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "TaskSocket":
        """Open the socket. Raises OSError if none can be made; then no process can attach."""
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
        """Let every peer read the end. The socket is removed before the lock: the next one is another writer's."""
        self._path.unlink(missing_ok=True)
        if self._server is not None:
            self._server.close()
        if self._peers:
            await asyncio.wait(self._peers, timeout=FAREWELL)
        await end_tasks(*self._peers)

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving = asyncio.current_task()
        assert serving is not None
        self._peers.add(serving)
        try:
            if pid := await self._admit(writer.get_extra_info("socket")):
                await self._serve(Peer(pid, _joining.decode(await reader.readline())), reader, writer)
        except (OSError, ValueError, msgspec.DecodeError):
            pass  # it left, or does not speak our protocol
        finally:
            self._peers.discard(serving)
            writer.close()

    async def _admit(self, connection: socket.socket) -> int:
        """Return the pid of the person's process at the other end; 0 if it is not admitted. Raises OSError."""
        pid, user, is_there = find_peer(connection)
        try:
            home = self._path.parent.parent.parent
            task = await asyncio.to_thread(find_task_above, pid, home) if user == os.geteuid() else 0
        except Unknown:
            task = 0
        if is_there() and task is None:
            return pid
        if task:
            self._task.emit(
                Noticed(f"Refused process {pid}: it was started by a task and tried to attach to this one.")
            )
        return 0

    async def _serve(self, peer: "Peer", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._task
        if peer.asks:
            task.inbox.welcome()
            task.emit(Noticed(f"Process {peer.pid} attached to this task."))
        task.log.attach(peer)
        peer.begin(task.log)
        sending = asyncio.create_task(peer.send_frames(writer))
        receiving = asyncio.create_task(self._read_commands(peer, reader))
        try:
            await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end_tasks(sending, receiving)
            task.log.detach(peer)
            if peer.asks:
                task.inbox.dismiss()
                if not peer.is_closed:
                    task.emit(Noticed(f"Process {peer.pid} detached from this task."))

    async def _read_commands(self, peer: "Peer", reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            peer.answer(await self._apply_line(peer, line))

    async def _apply_line(self, peer: "Peer", line: bytes) -> str:
        """Apply the command in a line; return why it was refused, or an empty string."""
        try:
            command = _command.decode(line)
            named = replace(command, task=self._task.log.task, client=peer.name)
            if found := find_loosening(named, self._task):
                return self._refuse_loosening(found, named.client)
            return "" if await self._send(named) else TOO_LATE
        except msgspec.DecodeError as error:
            return f"The process that runs the task does not know this command ({error}); it may be another version."
        except HaloclineError as error:
            return f"{error.text} {error.hint}".rstrip()

    def _refuse_loosening(self, found: Loosening, client: str) -> str:
        """Refuse a request that reduces approvals, and notify the person where the task runs."""
        self._task.emit(Noticed(f"{client} asks for {found.what}. To allow it, type {found.word}"))
        what = f"{found.what[:1].upper()}{found.what[1:]}"
        return f"{what} reduces approvals, so confirm it where the task runs: process {os.getpid()} shows your request."


class Peer(EventQueue[ipc.Frame]):
    """One attached process: a subscriber of the log that queues frames to send. An overflow drops no answer."""

    def __init__(self, pid: int, hello: ipc.Introduction) -> None:
        super().__init__()
        self.pid = pid
        self.name = f"{hello.name} {pid}"
        self.asks = hello.asks

    def begin(self, stream: Stream) -> None:
        """Queue the position of the log, and what is in progress."""
        self.put(ipc.Reached(stream.seq))
        for event in stream.now.events():
            self.push(event)

    def push(self, event: Event) -> None:
        if not isinstance(event, Durable):
            self.put(event)
            return
        if self._items and isinstance(self._items[-1], ipc.Reached):
            self._items.pop()
        self.put(ipc.Reached(event.seq))

    def answer(self, refused: str) -> None:
        self.put(ipc.Answered(refused))

    def shorten(self) -> list[ipc.Frame]:
        reached = [one for one in self._items if isinstance(one, ipc.Reached)]
        return [*(one for one in self._items if isinstance(one, ipc.Answered)), *reached[-1:]]

    async def send_frames(self, writer: asyncio.StreamWriter) -> None:
        """Send queued frames until the task is closed."""
        async for frame in self.live():
            writer.write(json_output.encode(frame) + b"\n")
            await writer.drain()
