"""The socket of an open task: other processes of this person watch and control the task through it.

Only the holder of the log's lock opens it. Approvals can be reduced only where the task runs. A slow peer costs a
bounded queue, and never delays the task.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from halocline.protocol import commands as cmd, ipc, json_input, json_output
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import Durable, Event, Noticed
from halocline.protocol.waiting import end_tasks
from halocline.runtime.attach.owner_socket import OwnerSocket
from halocline.runtime.loosening import Loosening, find_loosening
from halocline.store.paths import Home
from halocline.task import lock
from halocline.task.stream import EventQueue, Stream

if TYPE_CHECKING:
    from halocline.task.task import Task

TOO_LATE = "Too late: this was already decided."
CLOSING = "The task is being closed. Send it again."

_command = json_input.Decoder(cmd.AnyCommand)
_joining = json_input.Decoder(ipc.Introduction)


class TaskSocket(OwnerSocket):
    """The socket of a task, open within `async with`. `send` applies a command."""

    def __init__(self, task: "Task", send: Callable[[cmd.AnyCommand], Awaitable[bool]]) -> None:
        folder = task.log.path.parent
        super().__init__(folder, folder.parent.parent)
        self._task = task
        self._send = send

    async def serve_process(self, pid: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._serve(Peer(pid, _joining.decode(await reader.readline())), reader, writer)

    def note_refused(self, pid: int) -> None:
        self._task.emit(Noticed(f"Refused process {pid}: it was started by a task and tried to attach to this one."))

    async def _serve(self, peer: "Peer", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._task
        if peer.asks:
            task.inbox.welcome()
            task.emit(Noticed("Opened in another terminal or program."))
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
                    task.emit(Noticed("Closed in the other terminal or program."))

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
            if self._task.inbox.is_closed and _would_be_lost(named):
                return CLOSING
            return "" if await self._send(named) else TOO_LATE
        except msgspec.DecodeError as error:
            return f"The process that runs the task does not know this command ({error}); it may be another version."
        except HaloclineError as error:
            return f"{error.text} {error.hint}".rstrip()

    def _refuse_loosening(self, found: Loosening, client: str) -> str:
        """Refuse a request that reduces approvals, and notify the person where the task runs."""
        what, pid = f"{found.what[:1].upper()}{found.what[1:]}", os.getpid()
        if (lock.read_owner(Home(self._home).background) or "").startswith(f"{pid} "):
            again = f"halo stop {self._task.log.task}, then halo -r {self._task.log.task}"
            return f"{what} reduces approvals, which a task in the background does not let others do. Use: {again}"
        self._task.emit(Noticed(f"{client} asks for {found.what}. To allow it, type {found.word}"))
        return f"{what} reduces approvals, so confirm it where the task runs: process {pid} shows your request."


def _would_be_lost(command: cmd.AnyCommand) -> bool:
    """True for a message whose sender does not wait for its turn: no one would send it again."""
    return isinstance(command, cmd.Steer) or (isinstance(command, cmd.SubmitPrompt) and not command.turn)


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
