"""The door of an open task: other processes of this person watch it and drive it, through a socket in its folder.

Only who holds the log's lock has a door. What a task started, such as a command of the model, is never let in, and a
mode that asks less is chosen where the task runs. A guest that reads slowly costs a bounded queue, and never delays the
task.
"""

import asyncio
import os
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from halocline.hosts.shell.ancestry import Unknown, find_peer, find_task_above
from halocline.protocol import commands as cmd, ipc, json_input, json_output
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import Durable, Event, Noticed, Transient
from halocline.runtime.loosening import Loosening, find_loosening
from halocline.task.stream import QUEUE_LIMIT, Stream, joined_with

if TYPE_CHECKING:
    from halocline.task.task import Task

SOCKET = "door"
"""The name of the socket in the task's folder, which nobody else may enter."""
LONGEST_NAME = 100
"""Bytes of a socket's name that every kernel takes; homes can be longer."""
LONGEST_LINE = 64 * 2**20
"""Bytes of one command: a prompt may bring pictures."""
FAREWELL = 1.0
"""Seconds that guests have to hear the end."""
TOO_LATE = "Too late: it was decided already."

_command = json_input.Decoder(cmd.AnyCommand)
_joining = json_input.Decoder(ipc.Joining)


@contextmanager
def open_address(folder: Path) -> Iterator[str]:
    """A name of the folder's socket that the kernel takes."""
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
    """`async with Door(task, send)`: it is open meanwhile. `send` passes a command on."""

    def __init__(self, task: "Task", send: Callable[[cmd.AnyCommand], Awaitable[bool]]) -> None:
        self._task = task
        self._send = send
        self._path = task.log.path.parent / SOCKET
        self._guests: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "TaskSocket":
        """Raises OSError: no socket can be made there; then nobody can join."""
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
        """Let every guest hear the end. The socket goes before the lock does: the next one is another writer's."""
        self._path.unlink(missing_ok=True)
        if self._server is not None:
            self._server.close()
        if self._guests:
            await asyncio.wait(self._guests, timeout=FAREWELL)
        for guest in self._guests:
            guest.cancel()
        await asyncio.gather(*self._guests, return_exceptions=True)

    async def _receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving = asyncio.current_task()
        assert serving is not None
        self._guests.add(serving)
        try:
            if pid := await self._admit(writer.get_extra_info("socket")):
                await self._serve(Peer(pid, _joining.decode(await reader.readline())), reader, writer)
        except (OSError, ValueError, msgspec.DecodeError):
            pass  # it left, or is none of ours
        finally:
            self._guests.discard(serving)
            writer.close()

    async def _admit(self, connection: socket.socket) -> int:
        """The process of a person at the other end; 0 for whoever is not let in. Raises OSError."""
        pid, user, is_there = find_peer(connection)
        try:
            home = self._path.parent.parent.parent
            task = await asyncio.to_thread(find_task_above, pid, home) if user == os.geteuid() else 0
        except Unknown:
            task = 0
        if is_there() and task is None:
            return pid
        if task:
            self._task.emit(Noticed(f"Process {pid}, which a task started, tried to join this task. It was refused."))
        return 0

    async def _serve(self, guest: "Peer", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._task
        if guest.asks:
            task.inbox.welcome()
            task.emit(Noticed(f"Process {guest.pid} joined this task."))
        task.log.attach(guest)
        guest.begin(task.log)
        hearing = asyncio.create_task(guest.hear(writer))
        obeying = asyncio.create_task(self._obey(guest, reader))
        try:
            await asyncio.wait({hearing, obeying}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hearing.cancel()
            obeying.cancel()
            await asyncio.gather(hearing, obeying, return_exceptions=True)
            task.log.detach(guest)
            if guest.asks:
                task.inbox.dismiss()
                if not guest.ended:
                    task.emit(Noticed(f"Process {guest.pid} left this task."))

    async def _obey(self, guest: "Peer", reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            guest.answer(await self._done(guest, line))

    async def _done(self, guest: "Peer", line: bytes) -> str:
        """Do what a line says; gives why it was not done."""
        try:
            command = _command.decode(line)
            named = replace(command, task=self._task.log.task, client=guest.name)
            if found := find_loosening(named, self._task):
                return self._leave_to_owner(found, named.client)
            return "" if await self._send(named) else TOO_LATE
        except msgspec.DecodeError as error:
            return f"The process that runs the task does not understand this ({error}); it may be another version."
        except HaloclineError as error:
            return f"{error.text} {error.hint}".rstrip()

    def _leave_to_owner(self, found: Loosening, client: str) -> str:
        """Refuse what makes a task ask less, and tell its person: a message alone must not bring it about."""
        self._task.emit(Noticed(f"{client} asks for {found.what}. To allow it: {found.word}"))
        what = f"{found.what[:1].upper()}{found.what[1:]}"
        where = f"in process {os.getpid()}"
        return f"{what} asks less, so it is set where the task runs: {where}. It was told of your request."


class Peer:
    """One guest, as a subscriber of the log: what it must be told, in order."""

    def __init__(self, pid: int, said: ipc.Joining) -> None:
        self.pid = pid
        self.name = f"{said.name} {pid}"
        self.asks = said.asks
        self.ended = False
        self._queue: deque[ipc.Frame | Event] = deque()
        self._wake = asyncio.Event()

    def begin(self, stream: Stream) -> None:
        """How far the log reaches, and what goes on."""
        self._put(ipc.Reached(stream.seq))
        for event in stream.now.events():
            self.push(event)

    def push(self, event: Event) -> None:
        last = self._queue[-1] if self._queue else None
        if isinstance(event, Durable):
            if isinstance(last, ipc.Reached):
                self._queue.pop()
            self._put(ipc.Reached(event.seq))
        elif isinstance(last, Transient) and (both := joined_with(last, event)):
            self._queue[-1] = both
        else:
            self._put(event)

    def answer(self, refused: str) -> None:
        self._put(ipc.Answered(refused))

    def close(self) -> None:
        self.ended = True
        self._wake.set()

    async def hear(self, writer: asyncio.StreamWriter) -> None:
        """Tell it everything, until the task is closed."""
        while True:
            while self._queue:
                writer.write(json_output.encode(self._queue.popleft()) + b"\n")
                await writer.drain()
            if self.ended:
                return
            self._wake.clear()
            await self._wake.wait()

    def _put(self, frame: ipc.Frame | Event) -> None:
        self._queue.append(frame)
        if len(self._queue) > QUEUE_LIMIT:
            kept = [kept for kept in self._queue if isinstance(kept, ipc.Answered)]
            reached = [last for last in self._queue if isinstance(last, ipc.Reached)]
            self._queue = deque([*kept, *reached[-1:]])
        self._wake.set()
