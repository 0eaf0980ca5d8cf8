"""Know a process again by its number and its start: after its end another one may get its number.

Only Linux tells when a process started; elsewhere the number alone has to do.
"""

import os
from pathlib import Path

UNKNOWN = "0"


def read_start(pid: int | str) -> str:
    """Return the start of a process, in clock ticks since the machine's; `0` if it has ended or that is unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return UNKNOWN
    state, *fields = stat.rpartition(")")[2].split()
    return UNKNOWN if state in "ZX" else fields[18]


def is_running(pid: int, started: str) -> bool:
    """Return True if the process with this number that `started` then still runs; an unknown start fits any."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OverflowError:  # no process has such a number
        return False
    except OSError:  # another user's
        pass
    return started in ("", UNKNOWN) or read_start(pid) == started
