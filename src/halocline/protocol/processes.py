"""Know a process again by its number and its start: after its end another one may get its number.

Only Linux tells when a process started; elsewhere the number alone has to do.
"""

import os
from enum import Enum
from functools import cache
from pathlib import Path

UNKNOWN = "0"


def read_start(pid: int | str) -> str:
    """Return the start of a process, in clock ticks since the machine's; `0` if it has ended or that is unknown."""
    fields = read_fields(pid)
    return UNKNOWN if not fields or fields[0] in "ZX" else fields[19]


@cache
def read_own_start(pid: int) -> str:
    """Return the start of this process, whose number is `pid`: it stays what it is."""
    return read_start(pid)


def read_fields(pid: int | str) -> list[str]:
    """Return what /proc/PID/stat has after the name: the state, the parent …; empty if it is gone or unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return []
    return stat.rpartition(b")")[2].decode("ascii").split()


def is_running(pid: int, started: str) -> bool:
    """Return True if the process with this number that `started` then still runs; an unknown start fits any."""
    if pid == os.getpid():
        return started in ("", UNKNOWN, read_own_start(pid))
    if find_owner(pid) is Owner.NONE:
        return False
    return started in ("", UNKNOWN) or read_start(pid) == started


class Owner(Enum):
    """Whose process has a number now."""

    NONE = 0
    MINE = 1
    ANOTHERS = 2


def find_owner(pid: int) -> Owner:
    """Return whose process has this number."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):  # no process has a number that large
        return Owner.NONE
    except OSError:
        return Owner.ANOTHERS
    return Owner.MINE
