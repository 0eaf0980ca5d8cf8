"""Locks that processes share through a file or a folder: waited for until a deadline, and with the holder's name.

What must stay true: nothing else in Halocline locks files, and nothing here waits without a deadline. Only this module
calls `flock`.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EBUSY
from pathlib import Path

PATIENCE = 10.0
"""Seconds to wait for a lock that nobody should hold for long."""
_PAUSE = 0.01
_HELD = "{holder} {doing} and did not finish within {seconds:g} s. If it hangs, end that process, then try again"
_LOCKS = "/proc/locks"


class LockHeld(TimeoutError):
    """Another process kept a lock until the deadline; the text says which one, and what to do."""

    def __str__(self) -> str:
        return self.strerror or ""


def _never_stop() -> bool:
    return False


@contextmanager
def lock_file(
    path: Path, doing: str, patience: float = PATIENCE, given_up: Callable[[], bool] = _never_stop
) -> Iterator[int]:
    """Hold a lock file, which is made and stays, and give its descriptor. It names its holder.

    `doing` says what its holder does, as in "is changing several files". The lock is free once this process, and all
    that inherited the descriptor, let go of it.

    Raises:
        LockHeld: another process keeps it, or it was `given_up`.
        OSError: it cannot be opened.
    """
    # One that is removed could be locked twice.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        wait_for_lock(descriptor, doing, patience, given_up=given_up)
        with suppress(OSError):  # a full disk: the lock holds without a name
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {time.time():.0f}".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def lock_folder(folder: Path, doing: str, patience: float = PATIENCE, *, shared: bool = False) -> Iterator[None]:
    """Hold a folder; several may when it is `shared`. Raises LockHeld, and OSError when there is no such folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        wait_for_lock(descriptor, doing, patience, shared=shared)
        yield
    finally:
        os.close(descriptor)


def wait_for_lock(
    descriptor: int,
    doing: str,
    patience: float,
    *,
    shared: bool = False,
    given_up: Callable[[], bool] = _never_stop,
) -> None:
    """Lock an open file, for whoever has its descriptor. `given_up` may raise. Raises LockHeld."""
    deadline = time.monotonic() + patience
    while not try_lock(descriptor, shared=shared):
        if given_up() or time.monotonic() >= deadline:
            holder = _describe_holder(descriptor)
            raise LockHeld(EBUSY, _HELD.format(holder=holder, doing=doing, seconds=patience))
        time.sleep(_PAUSE)
    if given_up():
        raise LockHeld(EBUSY, "it was given up before it began")


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file if that can be done at once."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _describe_holder(descriptor: int) -> str:
    """Return who holds the lock, and since when, as far as the file or the system tells."""
    pid, since = _read_signature(descriptor)
    pid = pid or _pid_in_table(os.fstat(descriptor))
    if not pid:
        return "Another process"
    return (
        f"Process {pid} (since {time.strftime('%H:%M:%S', time.localtime(int(since)))})" if since else f"Process {pid}"
    )


def _read_signature(descriptor: int) -> tuple[str, str]:
    """Return what the holder wrote into the file: its pid and a time in Unix seconds; nothing of a folder."""
    with suppress(OSError):
        pid, _, since = os.pread(descriptor, 100, 0).decode(errors="replace").partition(" ")
        if pid.isdecimal() and since.isdecimal():
            return pid, since
    return "", ""


def _pid_in_table(found: os.stat_result) -> str:
    """Return the process that Linux says locked this file first; empty where it does not say."""
    device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    with suppress(OSError), open(_LOCKS, encoding="ascii", errors="replace") as table:
        for line in table:
            match line.split():
                case [_, "FLOCK", _, _, pid, place, *_] if place == device and pid.isdecimal() and pid != "0":
                    return pid
    return ""
