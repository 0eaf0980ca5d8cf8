"""Random bytes that a home keeps: the numbers of marks stay the same, and tell nothing of what they stand for."""

import os
from pathlib import Path

from halocline.files.regular import read_regular

SIZE = 32


def read_salt(path: Path) -> bytes:
    """The home's own, made when there are none yet; where they cannot be kept, new ones for this process."""
    made = os.urandom(SIZE)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(fd, "wb") as file:
            file.write(made)
    except FileExistsError:
        kept = _read_or_make(path)
        return kept if len(kept) == SIZE else made
    except OSError:
        pass
    return made


def _read_or_make(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""
