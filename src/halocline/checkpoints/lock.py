"""A lock that processes share through a file. It is free only when its holder and all its children are gone."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_PAUSE = 0.01


@contextmanager
def held(path: Path, deadline: float, check: Callable[[], None]) -> Iterator[int]:
    """Hold the lock and give its descriptor. `check` is called while waiting and may raise.

    Raises:
        TimeoutError: somebody else has it until the deadline, in `time.monotonic` seconds.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _try(descriptor):
            check()
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{path} is held by another process")
            time.sleep(_PAUSE)
        yield descriptor
    finally:
        os.close(descriptor)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
