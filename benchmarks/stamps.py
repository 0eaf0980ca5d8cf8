"""A pipe that notes when something is written to it: how a command tells that it has begun, by one `echo`."""

import os
import threading
import time
from pathlib import Path

_OVER = b"!\n"
_ONE = len(_OVER)


class Stamps:
    """Within the context the pipe exists. `times` (CLOCK_MONOTONIC, seconds) are those of the writes, of `.` each."""

    def __init__(self, path: Path) -> None:
        self.times: list[float] = []
        self._path = path

    def __enter__(self) -> "Stamps":
        self._path.unlink(missing_ok=True)
        os.mkfifo(self._path)
        # Open for both directions, so that it neither waits for a writer nor ends with one.
        self._pipe = os.open(self._path, os.O_RDWR)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.write(self._pipe, _OVER)
        self._thread.join()
        os.close(self._pipe)
        self._path.unlink()

    def _watch(self) -> None:
        # Writes that come while this thread has to wait for its turn are read one by one all the same.
        while os.read(self._pipe, _ONE) != _OVER:
            self.times.append(time.monotonic())
