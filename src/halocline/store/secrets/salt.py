"""The home's salt for the numbers of marks: numbers stay the same, and reveal nothing about the secrets."""

import os
from pathlib import Path

from halocline.files.regular import read_regular

SIZE = 32


def read_salt(path: Path) -> bytes:
    """Read the home's salt, or create it. If it cannot be stored, return a salt for this process only."""
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
