"""Finds the task that started a process, directly or not: processes of a task must not control Halocline.

A task is found through the parent processes, so a command cannot hide it by dropping a variable: the keeper adopts what
a command leaves behind, and the keeper's parent has the lock of its task open. A determined program of the same user
can get around this (another daemon, ptrace, the files themselves): only a sandbox is a boundary.
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
from halocline.protocol.patterns import compile_later
from halocline.protocol.processes import UNKNOWN, Owner, find_owner, read_fields, read_start

MARK = "HALOCLINE_COMMAND"
"""A variable in every command of a task: the mark of its processes, then the home of the task's Halocline."""
_KEEPER = compile_later(
    "".join(rf"[/\\]{re.escape(part)}" for part in (Path(__file__).parents[1] / "keeper.py").parts[-3:]).encode()
    + rb"[\0 ]\d+[\0 \n]*\Z"
)
"""The command line of a keeper, of any installation. It comes from the file, so a move cannot make it stale."""
_DEEPEST = 1_000
_TRIES = 5
_PEER_PIDFD = 77
"""SO_PEERPIDFD of Linux 6.5 and later, which Python does not define."""
_MAC_LEVEL, _MAC_USER, _MAC_PID = 0, 1, 2
"""SOL_LOCAL, LOCAL_PEERCRED and LOCAL_PEERPID of macOS."""


class Unknown(Exception):
    """It cannot be determined who started a process."""


def find_task_above(pid: int, home: Path, environment: Mapping[str, str] | None = None) -> int | None:
    """The process that runs a task of this home and started `pid`, directly or not; None when a person did.

    `environment` is that of the process, if known; 0 means a task known only from it.

    Raises:
        Unknown: the process is gone, or its parents cannot be followed.
    """
    line = _line_above(pid)
    homes = {above: _homes_of_tasks(above) for above in line[1:]}
    for above in line[1:]:
        if any(_is_same(found, home) for found in homes[above]):
            return above
    for above, over in pairwise([*line[1:], 0]):
        if not homes.get(over) and _is_keeper(_read_command(above)):  # its task's process is gone or hides files
            return above
    mark = (environment or {}).get(MARK)
    if mark is None:
        return None
    marked = mark.partition(" ")[2]
    return 0 if not marked or _is_same(marked, home) else None


def _is_keeper(command: bytes) -> bool:
    return b"keeper.py" in command and bool(_KEEPER.search(command))


def _is_same(found: str, home: Path) -> bool:
    try:
        return os.path.samefile(found, home)
    except OSError:
        return os.path.realpath(found) == os.path.realpath(home)


def find_peer(connection: socket.socket) -> tuple[int, int, Callable[[], bool]]:
    """The peer's process (0: unknown), its user, and a check that this process still exists.

    Raises OSError.
    """
    if (credentials := getattr(socket, "SO_PEERCRED", None)) is not None:
        pid, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, credentials, 12))
        return pid, user, _watch_process(connection, pid)
    _, user = struct.unpack_from("2I", connection.getsockopt(_MAC_LEVEL, _MAC_USER, 76))
    (pid,) = struct.unpack("i", connection.getsockopt(_MAC_LEVEL, _MAC_PID, 4))
    return pid, user, lambda: True


def _watch_process(connection: socket.socket, pid: int) -> Callable[[], bool]:
    """Tell the process that connected from a later one with its id, by a pidfd or else by its start time."""
    try:
        raw = connection.getsockopt(socket.SOL_SOCKET, _PEER_PIDFD, 4)
    except OSError:
        began = read_start(pid)
        return lambda: began != UNKNOWN and read_start(pid) == began
    (file,) = struct.unpack("i", raw)

    def is_there() -> bool:
        try:
            return not select.select([file], [], [], 0)[0]  # readable once it has ended
        finally:
            os.close(file)

    return is_there


def _line_above(pid: int) -> list[int]:
    """A process and its ancestors, up to the first process. Raises Unknown."""
    for _ in range(_TRIES):  # an ancestor may end meanwhile, and its children get another parent
        with suppress(ProcessLookupError):
            return _list_ancestors(pid, _parent_of if os.path.isdir("/proc/self") else _parents_by_ps().get)
    raise Unknown


def _list_ancestors(pid: int, parent: Callable[[int], int | None]) -> list[int]:
    line = [pid]
    while len(line) < _DEEPEST:
        above = parent(line[-1])
        if above is None:
            if len(line) > 1 and find_owner(line[-1]) is Owner.ANOTHERS:  # on a system that hides those
                return line
            raise ProcessLookupError
        if above <= 0:
            return line
        line.append(above)
    raise ProcessLookupError


def _parent_of(pid: int) -> int | None:
    fields = read_fields(pid)
    return int(fields[1]) if fields else None


def _parents_by_ps() -> dict[int, int]:
    """Every process with its parent, for systems without /proc."""
    try:
        output = _ask_ps("-axo", "pid=,ppid=")
    except (OSError, subprocess.SubprocessError) as error:
        raise Unknown from error
    rows = (line.split() for line in output.splitlines())
    return {int(row[0]): int(row[1]) for row in rows if len(row) == 2}


def _ask_ps(*words: str) -> bytes:
    asked = subprocess.run(["/bin/ps", *words], capture_output=True, timeout=5, env=child_environment({}))
    return asked.stdout


def _read_command(pid: int) -> bytes:
    """The command line with which a process was started."""
    if os.path.isdir("/proc/self"):
        with suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_bytes()
        return b""
    with suppress(OSError, subprocess.SubprocessError):
        return _ask_ps("-o", "command=", "-p", str(pid))
    return b""


def _homes_of_tasks(pid: int) -> set[str]:
    """The homes whose tasks a process has open; empty if it has none or hides its open files."""
    found = set()
    with suppress(OSError), os.scandir(f"/proc/{pid}/fd") as files:
        for file in files:
            with suppress(OSError):
                home, _, rest = os.readlink(file.path).rpartition("/tasks/")
                if home and rest.endswith("/lock") and rest.count("/") == 1:
                    found.add(home)
    return found
