"""Files and folders that only this person may open, whatever the umask is."""

import os
from pathlib import Path


def make_private_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing; `mkdir` leaves the mode of the latter to the umask.

    Raises OSError.
    """
    for place in (*reversed(folder.parents), folder):
        if not place.exists():
            place.mkdir(mode=0o700, exist_ok=True)


def open_private(path: str, flags: int) -> int:
    """The `opener` of a file that is made. Raises OSError."""
    return os.open(path, flags, 0o600)
