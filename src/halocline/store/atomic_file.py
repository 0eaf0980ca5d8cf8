"""Atomic, durable writes of small files: a file is replaced as a whole, and survives a power loss."""

import os
from pathlib import Path


def write_whole(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace the file's content. Raises OSError; then the file is unchanged."""
    temporary = path.with_name(f".{path.name.lstrip('.')}-{os.urandom(6).hex()}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(fd)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_names(path.parent)


def sync_names(folder: Path) -> None:
    """Sync a folder, so that its created, renamed and deleted files survive a power loss. Raises OSError."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
