"""The lock of a store. It is free only when its holder and all of the holder's children are gone."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from halocline.protocol.file_locks import lock_file


@contextmanager
def hold_lock(path: Path, deadline: float, check: Callable[[], None]) -> Iterator[int]:
    """Hold the lock and yield its descriptor. `check` is called while waiting and may raise.

    Raises:
        LockHeld: another process keeps it until the deadline, in `time.monotonic` seconds.
    """

    def is_given_up() -> bool:
        check()
        return False

    patience = max(0.0, deadline - time.monotonic())
    with lock_file(path, "is saving or restoring files of this folder", patience, is_given_up) as descriptor:
        yield descriptor
