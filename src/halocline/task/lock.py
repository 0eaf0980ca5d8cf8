"""One writer per log: a file that its writer keeps locked, and that says who that is (`pid start-token`)."""

import os
import time
from pathlib import Path

from halocline.protocol.errors import TaskBusy, TaskNotFound
from halocline.protocol.file_locks import try_lock

LOCK_NAME = "lock"
PATIENCE = 2.0
"""Seconds to wait for the lock of a process that is gone: one that it was just starting may hold it a moment longer."""
PAUSE = 0.005


def take_lock(folder: Path, task: str) -> int:
    """Lock the log in `folder`, and give the descriptor whose closing unlocks it.

    Raises:
        TaskBusy: a running process (or another Log of this one) holds it.
        TaskNotFound: the folder was put away while this waited.
    """
    file = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + PATIENCE
    while not try_lock(file):
        pid, token = _read_holder(file)
        if _start_token(pid) == token or time.monotonic() > deadline:
            os.close(file)
            raise TaskBusy(
                f"Task {task} is open in another process (pid {pid}).",
                f"Close it there, or join it from here with: halo attach {task}",
            )
        time.sleep(PAUSE)
    if not _is_at(file, folder / LOCK_NAME):
        os.close(file)
        raise TaskNotFound(f"Task {task} was deleted just now.", "See those that are there: halo tasks list")
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()} {_start_token(str(os.getpid()))}\n".encode(), 0)
    return file


def give_back(file: int) -> None:
    """Unlock. The holder's name goes first: who only looks locks for a moment, and must not be taken for it."""
    os.ftruncate(file, 0)
    os.close(file)


def read_owner(folder: Path) -> str | None:
    """Who writes this task's log now (`pid start-token`), or None when nobody does."""
    try:
        file = os.open(folder / LOCK_NAME, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return None if try_lock(file, shared=True) else " ".join(_read_holder(file))
    finally:
        os.close(file)


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _read_holder(file: int) -> tuple[str, str]:
    """The pid and the start token that the file names; unknown ones while they are being written."""
    pid, _, token = os.pread(file, 100, 0).decode().strip().partition(" ")
    return pid or "unknown", token


def _start_token(pid: str) -> str:
    """When the process started, in clock ticks since boot, so that a recycled pid is told apart; `0` if unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "0"
    state, *fields = stat.rpartition(")")[2].split()
    return "0" if state in "ZX" else fields[18]
