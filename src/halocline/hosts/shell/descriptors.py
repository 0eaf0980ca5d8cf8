"""Descriptors for programs that are started: a pipe, a terminal, an anonymous file."""

import fcntl
import os
import termios
from contextlib import suppress

LINES, COLUMNS = 40, 120
_PIPE_SIZE = 1 << 20


def open_pipe() -> tuple[int, int]:
    """Open a large pipe, to read from and to write to."""
    reading, writing = os.pipe()
    with suppress(OSError, AttributeError):  # the user may be over a limit; only Linux has the call
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    return reading, writing


def open_terminal() -> tuple[int, int]:
    """Open a terminal of a usual size, without echo; programs that want echo turn it on."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (LINES, COLUMNS))
    modes = termios.tcgetattr(theirs)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    return ours, theirs


def open_scratch_file() -> int:
    """Open an anonymous file."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("halocline")
    from tempfile import TemporaryFile  # heavy, and Linux does not need it

    with TemporaryFile() as file:
        return os.dup(file.fileno())
