"""The connection to a keeper (`hosts.keeper`), which it starts: replies come in the order of the requests."""

import asyncio
import errno
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from halocline.hosts.keeper import EXITED, HELLO, REPLY
from halocline.protocol.child_environment import ChildEnvironment

_SCRIPT = str(Path(__file__).parents[1] / "keeper.py")
_LONGEST_END = 10.0
PULSE = 0.5
"""Seconds after which a keeper that a command stopped is continued."""

Reply = tuple[int, int, int]
"""A kind, a process id, and its exit code or error: see `keeper.REPLY`."""


class Line:
    """The keeper and the socket to it. `stands` is done once the keeper listens."""

    def __init__(
        self, environment: ChildEnvironment, on_exit: Callable[[int, int], None], on_loss: Callable[[], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.stands: asyncio.Future[None] = self._loop.create_future()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._on_exit = on_exit
        self._on_loss = on_loss
        self._is_used = False
        self._unread = b""
        self._asked: deque[Callable[[Reply | None], None]] = deque()
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", _SCRIPT, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._socket.setblocking(False)
        self._loop.add_reader(self._socket, self._read_replies)

    @property
    def pid(self) -> int:
        """The keeper's process."""
        return self._keeper.pid

    @property
    def is_asked(self) -> bool:
        """True while a reply is awaited."""
        return bool(self._asked)

    def send(self, head: bytes, fds: tuple[int, ...], body: bytes, on_reply: "Callable[[Reply | None], None]") -> None:
        """Send a request. `on_reply` gets the reply, or None if the keeper is gone. Raises OSError if it is already."""
        self._is_used = True
        self.go_on()
        self._socket.settimeout(PULSE)
        try:
            socket.send_fds(self._socket, [head], fds)
            self._send(body)
        finally:
            self._socket.setblocking(False)
        self._asked.append(on_reply)
        self._loop.call_later(PULSE, self._urge)

    def _urge(self) -> None:
        """Continue the keeper while a reply is awaited: a command may have stopped it before it could report."""
        if self._asked:
            self.go_on()
            self._loop.call_later(PULSE, self._urge)

    def _send(self, body: bytes) -> None:
        rest = memoryview(body)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except TimeoutError:
                self.go_on()

    def go_on(self) -> None:
        """Continue a stopped keeper; does nothing to a running one."""
        if self._keeper.returncode is None:
            with suppress(ProcessLookupError):
                self._keeper.send_signal(signal.SIGCONT)

    async def close(self) -> None:
        """Let the keeper end all its processes, and wait until it is gone; at once if it never had any."""
        self._on_loss = lambda: None
        if not self._is_used:
            self.let_go()
            return
        self.go_on()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        await asyncio.wait([self._gone], timeout=_LONGEST_END)
        self.let_go()

    def _read_replies(self) -> None:
        try:
            self._receive()
        except BlockingIOError:
            return
        except OSError:
            self.lose()
        self._dispatch()

    def lose(self) -> None:
        """Give up a keeper that was killed."""
        self.let_go()
        self._on_loss()

    def _receive(self) -> None:
        chunk = self._socket.recv(4096)
        if not chunk:
            raise BrokenPipeError(errno.EPIPE, "the process that starts commands has ended")
        self._unread += chunk

    def _next(self) -> Reply | None:
        if len(self._unread) < REPLY.size:
            return None
        head, self._unread = self._unread[: REPLY.size], self._unread[REPLY.size :]
        kind, pid, value = REPLY.unpack(head)
        return kind, pid, value

    def _dispatch(self) -> None:
        while (reply := self._next()) is not None:
            if reply[0] == EXITED:
                self._on_exit(*reply[1:])
            elif reply[0] != HELLO:
                self._asked.popleft()(reply)
            elif not self.stands.done():
                self.stands.set_result(None)

    def let_go(self) -> None:
        """Close the socket and collect the keeper."""
        if not self._gone.done():
            self._gone.set_result(None)
        if not self.stands.done():
            self.stands.set_exception(BrokenPipeError(errno.EPIPE, "the process that starts commands did not start"))
            self.stands.exception()  # perhaps nobody waits for it
        while self._asked:
            self._asked.popleft()(None)
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._socket.close()
            self._keeper.kill()
            self._keeper.wait()
