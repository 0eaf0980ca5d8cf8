"""Faults at disk writes, for a process that a test starts for this: it dies at a write, or the write fails.

Every place where the process changes a file is a *point*; points are counted from 1. The functions of `os` are replaced
for the rest of the process, so that the product needs no hooks.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import Any

from halocline.protocol.values import Value

WRITES = ("write", "pwrite")
CHANGES = ("replace", "rename", "link", "unlink", "remove", "mkdir", "rmdir", "ftruncate", "fsync", "fdatasync")
CAN_BE_REFUSED = {*WRITES, "replace", "link", "mkdir", "fsync", "fdatasync", "open"}
"""Calls that fail on a full or broken disk; removing and truncating still work."""
_OPENED_TO_WRITE = os.O_WRONLY | os.O_RDWR


class FaultTime(StrEnum):
    """The time of the fault at its point. HALF first writes half of the data."""

    BEFORE = "before"
    AFTER = "after"
    HALF = "half"


class Fault(Value, frozen=True):
    """A fault at a point. Without an `error` (a name in `errno`), the process is killed.

    A `lasting` error also occurs at every later point. A fault at point 0 never occurs: points are only counted. With a
    `text`, the point is the first write of data that contains it: points before may change their order from run to run.
    """

    at: int = 0
    moment: FaultTime = FaultTime.BEFORE
    error: str = ""
    lasting: bool = False
    text: str = ""


class Points:
    """Counts the points of this process and triggers its fault."""

    def __init__(self, fault: Fault, seen: Callable[[int, str], None] = lambda count, name: None) -> None:
        """`seen` is called just before every point."""
        self.count = 0
        self._fault = fault
        self._at = fault.at
        self._text = fault.text.encode()
        self._seen = seen

    def install(self) -> None:
        """Make every change to a file by this process a point from now on."""
        for name in WRITES:
            setattr(os, name, self._watch(name, getattr(os, name), half=True))
        for name in CHANGES:
            setattr(os, name, self._watch(name, getattr(os, name)))
        sys.addaudithook(self._audit)

    def _watch(self, name: str, real: Callable[..., Any], *, half: bool = False) -> Callable[..., Any]:
        @wraps(real)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if half and self._text and self._text in bytes(args[1]):
                self._at, self._text = self.count + 1, b""
            due = self._due(name)
            if due and half and self._fault.moment is FaultTime.HALF:
                real(args[0], bytes(args[1])[: len(args[1]) // 2], *args[2:])
            if due and self._fault.moment is not FaultTime.AFTER:
                self._strike()
            result = real(*args, **kwargs)
            if due:
                self._strike()
            return result

        return watched

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        """Audit hook: files opened for writing and started processes do not go through `os`."""
        opens = event == "open" and isinstance(args[2], int) and args[2] & _OPENED_TO_WRITE
        if (opens or event == "subprocess.Popen") and self._due("open" if opens else "popen"):
            self._strike()

    def _due(self, name: str) -> bool:
        if self._fault.error and name not in CAN_BE_REFUSED:
            return False
        self.count += 1
        self._seen(self.count, name)
        if not self._at:
            return False
        return self.count >= self._at if self._fault.lasting else self.count == self._at

    def _strike(self) -> None:
        if not self._fault.error:
            os.kill(os.getpid(), signal.SIGKILL)
            signal.pause()  # other threads may still run for a moment; this one does not
        number = getattr(errno, self._fault.error)
        raise OSError(number, os.strerror(number))
