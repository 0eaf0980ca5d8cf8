"""Finds the task that started a process, directly or not: what a task starts must not steer Halocline.

A task is found by the processes above, so no variable that a command drops can hide it: the keeper adopts what a
command leaves behind, and the process above the keeper has the lock of its task open. A determined program of the same
user finds a way around (another daemon, ptrace, the files themselves): only a sandbox is a boundary.
"""

import os
import re
import select
import socket
import struct
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from halocline.protocol.child_environment import child_environment

MARK = "HALOCLINE_COMMAND"
"""The variable of every command of a task: what marks its processes, and the home of the task's Halocline."""
_LOCK = re.compile(r"(/.*)/tasks/[^/]+/lock\Z", re.DOTALL)
_KEEPER = re.compile(rb"[/\\]halocline[/\\]hosts[/\\]keeper\.py[\0 ]\d+[\0 \n]*\Z")
_DEEPEST = 1_000
_TRIES = 5
_PEER_PIDFD = 77
"""SO_PEERPIDFD of Linux 6.5 and later, which Python does not name."""
_MAC_LEVEL, _MAC_USER, _MAC_PID = 0, 1, 2
"""SOL_LOCAL, LOCAL_PEERCRED and LOCAL_PEERPID of macOS."""


class Unknown(Exception):
    """Nobody can say who started a process."""


def find_task_above(pid: int, home: Path, environment: Mapping[str, str] | None = None) -> int | None:
    """The process that runs a task of this home and started that one, directly or not; None when a person did.

    `environment` is the process's own, where that is known; 0 stands for a task that is known by it alone.

    Raises:
        Unknown: the process is gone, or the ones above it cannot be followed.
    """
    line = _line_above(pid)
    homes = {above: _homes_of_tasks(above) for above in line[1:]}
    for above in line[1:]:
        if any(_is_same(found, home) for found in homes[above]):
            return above
    for above, over in pairwise([*line[1:], 0]):
        if not homes.get(over) and _KEEPER.search(_read_command(above)):  # its task's process is gone, or shows nothing
            return above
    mark = (environment or {}).get(MARK)
    if mark is None:
        return None
    marked = mark.partition(" ")[2]
    return 0 if not marked or _is_same(marked, home) else None


def _is_same(found: str, home: Path) -> bool:
    try:
        return os.path.samefile(found, home)
    except OSError:
        return os.path.realpath(found) == os.path.realpath(home)


def find_peer(connection: socket.socket) -> tuple[int, int, Callable[[], bool]]:
    """Who is at the other end: its process (0: not known), its user, and whether that process is there still.

    Raises OSError.
    """
    if (credentials := getattr(socket, "SO_PEERCRED", None)) is not None:
        pid, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, credentials, 12))
        return pid, user, _watch_process(connection, pid)
    _, user = struct.unpack_from("2I", connection.getsockopt(_MAC_LEVEL, _MAC_USER, 76))
    (pid,) = struct.unpack("i", connection.getsockopt(_MAC_LEVEL, _MAC_PID, 4))
    return pid, user, lambda: True


def _watch_process(connection: socket.socket, pid: int) -> Callable[[], bool]:
    """Tell the process that connected from a later one of its number: by a descriptor of it, else by its start."""
    try:
        raw = connection.getsockopt(socket.SOL_SOCKET, _PEER_PIDFD, 4)
    except OSError:
        began = _start_of(pid)
        return lambda: bool(began) and _start_of(pid) == began
    (file,) = struct.unpack("i", raw)

    def is_there() -> bool:
        try:
            return not select.select([file], [], [], 0)[0]  # readable once it has ended
        finally:
            os.close(file)

    return is_there


def _line_above(pid: int) -> list[int]:
    """A process and those above it, up to the first one. Raises Unknown."""
    for _ in range(_TRIES):  # one may end while the line is followed, and its children get another parent
        with suppress(ProcessLookupError):
            return _list_ancestors(pid, _parent_of if os.path.isdir("/proc/self") else _parents_by_ps().get)
    raise Unknown


def _list_ancestors(pid: int, parent: Callable[[int], int | None]) -> list[int]:
    line = [pid]
    while len(line) < _DEEPEST:
        above = parent(line[-1])
        if above is None:
            if len(line) > 1 and _is_hidden(line[-1]):  # another user's, on a system that shows only one's own
                return line
            raise ProcessLookupError
        if above <= 0:
            return line
        line.append(above)
    raise ProcessLookupError


def _is_hidden(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except ProcessLookupError:
        return False
    return False


def _parent_of(pid: int) -> int | None:
    fields = _read_fields(pid)
    return int(fields[1]) if fields else None


def _start_of(pid: int) -> str:
    """In clock ticks since the system began; empty when the process is gone."""
    fields = _read_fields(pid)
    return fields[19] if fields else ""


def _read_fields(pid: int) -> list[str]:
    """What /proc says of a process behind its name, from its state on."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return []
    return stat.rpartition(b")")[2].decode("ascii").split()


def _parents_by_ps() -> dict[int, int]:
    """Every process with its parent, where there is no /proc."""
    try:
        said = _ask_ps("-axo", "pid=,ppid=")
    except (OSError, subprocess.SubprocessError) as error:
        raise Unknown from error
    rows = (line.split() for line in said.splitlines())
    return {int(row[0]): int(row[1]) for row in rows if len(row) == 2}


def _ask_ps(*words: str) -> bytes:
    asked = subprocess.run(["/bin/ps", *words], capture_output=True, timeout=5, env=child_environment({}))
    return asked.stdout


def _read_command(pid: int) -> bytes:
    """The words with which a process was started."""
    if os.path.isdir("/proc/self"):
        with suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_bytes()
        return b""
    with suppress(OSError, subprocess.SubprocessError):
        return _ask_ps("-o", "command=", "-p", str(pid))
    return b""


def _homes_of_tasks(pid: int) -> set[str]:
    """The homes whose tasks a process has open; none when it has none, or hides what it has open."""
    found = set()
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as files:
        for file in files:
            with suppress(OSError):
                if lock := _LOCK.match(os.readlink(file.path)):
                    found.add(lock[1])
    return found
