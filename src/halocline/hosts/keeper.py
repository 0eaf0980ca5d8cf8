"""A separate process, one for each task, that starts the task's commands and lets none escape.

It is the parent of every command, and on Linux it adopts processes that a command leaves behind (a child subreaper), so
even a daemon that forked twice and called setsid is below it. When its socket closes, because the task is over or halo
was killed, it ends everything below it. It is started by its path, imports nothing of Halocline and prints nothing.
"""

import array
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

REQUEST = struct.Struct("!IIBB")
"""Size of the body, number of arguments, terminal and patient flags. The body: folder, program's file, arguments and
environment, split by NULs.

A patient process ignores signals that ask it to end: it is a wrapper that ends when its command does. A request with no
arguments asks the keeper to end, unless a process lives below it.
"""
REPLY = struct.Struct("!Bii")
"""One of the kinds below, a process id, and its exit status or the error that prevented its start."""
HELLO, STARTED, REFUSED, EXITED, RESTS, STAYS = range(6)
STATE_FD, FILTER_FD = 99, 98
"""Descriptors that a command gets: the file for its shell's folder and environment, and a system call filter."""
GRACE = 0.5
_PATIENCE = 3.0
_POLL = 0.01
_SUBREAPER, _DEATH_SIGNAL = 36, 1
_DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_CHANGED = (*_DEAF_TO, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)
"""Signals whose handling this process or Python changes; commands get the defaults."""


class Keeper:
    """The keeper's end of the socket; `hosts.shell.keeper_line` has the other."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._groups: set[int] = set()

    def serve(self) -> None:
        """Serve until there will be no more requests. Raises OSError when halo is gone."""
        exits = _open_exit_pipe()
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        poll.register(exits, select.POLLIN)
        self._send_reply(HELLO)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if exits in ready:
                os.read(exits, 4096)
                self._reap()
            if self._sock.fileno() in ready and not self._start_next():
                return

    def end_all(self) -> None:
        """Ask every process below to end; kill those that have not after a moment."""
        self._signal_all(signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while self._is_needed() and time.monotonic() < deadline:
            time.sleep(_POLL)
        deadline += _PATIENCE  # some may belong to another user
        while self._is_needed() and time.monotonic() < deadline:
            self._signal_all(signal.SIGKILL)
            time.sleep(_POLL)

    def _start_next(self) -> bool:
        fds = array.array("i")
        head, controls, _, _ = self._sock.recvmsg(REQUEST.size, socket.CMSG_SPACE(3 * fds.itemsize))
        if len(head) < REQUEST.size:
            return False
        for _, _, data in controls:
            fds.frombytes(data)
        for fd in fds:
            os.set_inheritable(fd, False)
        size, count, terminal, patient = REQUEST.unpack(head)
        if not count:
            is_needed = self._is_needed()
            self._send_reply(STAYS if is_needed else RESTS)
            return is_needed
        folder, program, *words = self._receive_exactly(size).split(b"\0")
        try:
            pid = self._launch(folder, program, words[:count], words[count:], fds, bool(terminal), bool(patient))
        except OSError as error:
            self._send_reply(REFUSED, 0, error.errno or 0)
        else:
            self._groups.add(pid)
            self._send_reply(STARTED, pid)
        finally:
            for fd in fds:
                os.close(fd)
        return True

    def _launch(
        self,
        folder: bytes,
        program: bytes,
        arguments: list[bytes],
        environment: list[bytes],
        fds: "array.array[int]",
        terminal: bool,
        patient: bool,
    ) -> int:
        """Start a new session with folder, signals, input and output as a command expects them."""
        pairs = (entry.partition(b"=") for entry in environment)
        output, state, *others = fds
        # The first terminal that a session leader opens becomes its `/dev/tty`.
        input = os.ttyname(output) if terminal else os.devnull
        os.chdir(folder)
        try:
            return os.posix_spawn(
                program,
                arguments,
                {name: value for name, _, value in pairs},
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, input, os.O_RDWR, 0),
                    (os.POSIX_SPAWN_DUP2, output, 1),
                    (os.POSIX_SPAWN_DUP2, output, 2),
                    (os.POSIX_SPAWN_DUP2, state, STATE_FD),
                    *((os.POSIX_SPAWN_DUP2, other, FILTER_FD) for other in others),
                ],
                setsid=True,
                setsigdef=[number for number in _CHANGED if not (patient and number in _DEAF_TO)],
            )
        finally:
            os.chdir("/")

    def _reap(self) -> bool:
        """Collect ended processes and report the commands among them. False when no child is left."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                if pid in self._groups:
                    with suppress(OSError):
                        self._send_reply(EXITED, pid, os.waitstatus_to_exitcode(status))
                    if not _does_exist(pid):
                        self._groups.discard(pid)
            return True
        return False

    def _is_needed(self) -> bool:
        return self._reap() or any(map(_does_exist, self._groups))

    def _signal_all(self, number: signal.Signals) -> None:
        for pid in _descendants_of(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        for group in self._groups:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)

    def _send_reply(self, kind: int, pid: int = 0, value: int = 0) -> None:
        self._sock.sendall(REPLY.pack(kind, pid, value))

    def _receive_exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = self._sock.recv(min(size - len(data), 1 << 16))
            if not chunk:
                raise ConnectionError
            data += chunk
        return bytes(data)


def _open_exit_pipe() -> int:
    """A descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def _does_exist(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _descendants_of(root: int) -> Iterator[int]:
    """All descendants of a process from /proc; none on a system without it."""
    children: dict[int, list[int]] = {}
    for entry in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        with suppress(OSError), open(f"/proc/{entry}/stat", "rb") as stat:
            parent = int(stat.read().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry))
    family = children.get(root, [])
    for pid in family:
        family += children.get(pid, [])
    return iter(family)


def _adopt_orphans() -> None:
    """Become a child subreaper. Only Linux has this; elsewhere only process groups hold commands together."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        # A keeper that a command stopped would outlive halo; once continued, it finds the socket closed.
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, int(signal.SIGCONT), 0, 0, 0)


def main() -> None:
    for number in _DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    fd = int(sys.argv[1])
    os.set_inheritable(fd, False)
    _adopt_orphans()
    with socket.socket(fileno=fd) as sock:
        keeper = Keeper(sock)
        with suppress(OSError):
            keeper.serve()
        keeper.end_all()
    os._exit(0)


if __name__ == "__main__":
    main()
