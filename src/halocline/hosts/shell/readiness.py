"""Signs that a running command is ready, busy or stuck: its output, its ports, its use of the CPU.

Ports and CPU use are read from /proc; without it, they are unknown.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from halocline.protocol.values import Value

_READY = (
    rb"(?i)\bready\b|\blistening\b|\bserving\b|\bstarted\b|\brunning (?:at|on)\b|\bavailable (?:at|on)\b"
    rb"|\bwatching for\b|compiled successfully|\bfailed\b|\berror\b"
    rb"|https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])"
)
"""Words that end the wait for a start: it succeeded, or it failed."""
_BUILDING = rb"(?i)\b(?:compil|build|bundl|transpil|generat|install|download|starting|link)"
_FULL_SCREEN = b"\x1b[?1049h"
_LISTENS = "0A"
_CHUNK = 1 << 17


class Member(Value, frozen=True):
    """One process of a session: its state as in /proc, and the clock ticks it used."""

    pid: int
    group: int
    state: str
    ticks: int


def is_ready(newest: bytes) -> bool:
    return bool(re.search(_READY, newest))


def is_building(newest: bytes) -> bool:
    return bool(re.search(_BUILDING, newest))


def is_full_screen(chunk: bytes) -> bool:
    """True if a program switched to the terminal's alternate screen, as editors and pagers do."""
    return _FULL_SCREEN in chunk


def list_members(session: int, mark: bytes = b"", keeper: int = 0) -> list[Member] | None:
    """The living processes of a session, or of its leader's group; None where there is no /proc.

    With a mark, also those elsewhere that have it in their environment. If all of them are below a keeper, only its
    descendants are read, however many processes the machine has. Call it in a thread.
    """
    try:
        entries = list_descendants(keeper) if keeper else os.listdir("/proc")
    except OSError:  # the keeper is gone, or this system does not list children
        return list_members(session, mark) if keeper else None
    found = [member for entry in entries if entry.isdigit() and (member := _read_member(entry, session, mark))]
    return [member for member in found if member.state not in "ZX"]


def list_descendants(pid: int) -> list[str]:
    """All processes below this one. One may be missed while others end. Raises OSError."""
    found = _list_children(str(pid))
    for child in found:
        with suppress(OSError):
            found += _list_children(child)
    return found


def _list_children(pid: str) -> list[str]:
    """The children of all threads of a process. Raises OSError."""
    threads = os.listdir(f"/proc/{pid}/task")
    return [child for thread in threads for child in _read_file(f"/proc/{pid}/task/{thread}/children").decode().split()]


def _read_member(entry: str, session: int, mark: bytes) -> Member | None:
    # The name before the last parenthesis may itself contain spaces and parentheses.
    fields = _read_proc(entry, "stat").rpartition(b")")[2].decode("ascii").split()
    if not fields:
        return None
    if session not in (int(fields[2]), int(fields[3])) and not (mark and mark in _read_proc(entry, "environ")):
        return None
    return Member(int(entry), int(fields[2]), fields[0], int(fields[11]) + int(fields[12]))


def _read_proc(entry: str, name: str) -> bytes:
    """A file of a process; empty when the process is gone or another user's."""
    try:
        return _read_file(f"/proc/{entry}/{name}")
    except OSError:
        return b""


def _read_file(path: str) -> bytes:
    """Read a file of /proc; a file object would cost three times as much. Raises OSError."""
    file, data = os.open(path, os.O_RDONLY | os.O_CLOEXEC), b""
    try:
        while chunk := os.read(file, _CHUNK):
            data += chunk
    finally:
        os.close(file)
    return data


def count_ticks(processes: Iterable[Member]) -> int:
    """Clock ticks that the processes used so far."""
    return sum(process.ticks for process in processes)


def listening_ports(session: int, keeper: int) -> tuple[int, ...]:
    """The TCP ports on which a session's processes listen. Call it in a thread."""
    found: set[int] = set()
    for member in list_members(session, keeper=keeper) or ():
        found.update(listened_on(member.pid))
    return tuple(sorted(found))


def listened_on(pid: int) -> tuple[int, ...]:
    """The TCP ports on which one process listens."""
    sockets = set(_list_sockets(pid))
    return tuple(sorted({port for port, inode in _open_ports(pid) if inode in sockets})) if sockets else ()


def _list_sockets(pid: int) -> Iterator[str]:
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as fds:
        for fd in fds:
            with suppress(OSError):
                kind, _, inode = os.readlink(fd.path).partition(":[")
                if kind == "socket":
                    yield inode.rstrip("]")


def _open_ports(pid: int) -> Iterator[tuple[int, str]]:
    """Open ports of the network namespace that a process is in; a sandbox has its own."""
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/net", name).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == _LISTENS:
                    yield int(fields[1].rpartition(":")[2], 16), fields[9]
