"""One writer per log: a file that the writer keeps locked and that identifies it (`pid start-token`)."""

import os
import time
from pathlib import Path

from halocline.protocol.errors import TaskBusy, TaskNotFound
from halocline.protocol.file_locks import try_lock
from halocline.protocol.processes import is_running, read_start

LOCK_NAME = "lock"
PATIENCE = 2.0
"""Seconds to wait for the lock of a dead process: a child that it was starting may hold it a moment longer."""
PAUSE = 0.005


def take_lock(folder: Path, task: str) -> int:
    """Lock the log in `folder`; closing the returned descriptor unlocks it.

    Raises:
        TaskBusy: a running process (or another Log of this one) holds it.
        TaskNotFound: the task was deleted before this, or while it waited.
    """
    try:
        file = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        raise describe_deleted(task) from None
    deadline = time.monotonic() + PATIENCE
    while not try_lock(file):
        pid, token = _read_holder(file)
        if (pid.isdecimal() and is_running(int(pid), token)) or time.monotonic() > deadline:
            os.close(file)
            raise TaskBusy(
                f"Task {task} is open in another process (pid {pid}).",
                f"Close it there, or attach to it from here with: halo attach {task}",
            )
        time.sleep(PAUSE)
    if not _is_at(file, folder / LOCK_NAME):
        os.close(file)
        raise describe_deleted(task)
    os.ftruncate(file, 0)
    os.pwrite(file, f"{os.getpid()} {read_start(os.getpid())}\n".encode(), 0)
    return file


def describe_deleted(task: str) -> TaskNotFound:
    """A task that was found, and whose log is gone when it is opened."""
    return TaskNotFound(
        f"Task {task} was deleted meanwhile.", f"If it should not be, get it back: halo tasks undelete {task}"
    )


def give_back(file: int) -> None:
    """Unlock. The holder is erased first: `read_owner` locks briefly, and must not be mistaken for it."""
    try:
        os.ftruncate(file, 0)
    finally:
        os.close(file)


def read_owner(folder: Path) -> str | None:
    """Return the current writer of this task's log (`pid start-token`), or None."""
    try:
        file = os.open(folder / LOCK_NAME, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return None if try_lock(file, shared=True) else " ".join(_read_holder(file))
    finally:
        os.close(file)


def has_holder(path: Path) -> bool:
    """False if the lock was given back: its file is empty. One that was killed seems to hold it still; quick."""
    try:
        return path.stat().st_size > 0
    except FileNotFoundError:
        return False


def read_dead_owner(folder: Path) -> str:
    """Return the last holder (`pid start-token`) if it was killed; empty if it lives, gave the lock back, or none was.

    Raises OSError.
    """
    file = os.open(folder / LOCK_NAME, os.O_RDONLY)
    try:
        return " ".join(_read_holder(file)) if try_lock(file, shared=True) and os.fstat(file).st_size else ""
    finally:
        os.close(file)


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def _read_holder(file: int) -> tuple[str, str]:
    """Read pid and start token from the file; unknown while they are being written."""
    pid, _, token = os.pread(file, 100, 0).decode().strip().partition(" ")
    return pid or "unknown", token
