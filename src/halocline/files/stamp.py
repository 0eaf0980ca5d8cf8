"""Stamps of files: a file with the same stamp as before was not replaced or rewritten."""

import os


def read_stamp(path: str | os.PathLike[str]) -> tuple[int, int, int] | None:
    """Return the file's stamp, or None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
