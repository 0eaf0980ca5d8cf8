"""Large or binary content on disk, named by the hash of its bytes.

Reads verify the hash: a corrupt blob, as after a power loss, counts as missing and is rewritten when it is put again.
`put` does not wait for the disk; `sync` does, for everything put before.
"""

import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock

from halocline.files.durable import sync_path
from halocline.ports.blobs import blob_reference
from halocline.protocol.file_locks import LockHeld, lock_folder
from halocline.protocol.patterns import compile_later
from halocline.protocol.private_files import make_private_folder

_KEEPS = "is keeping or removing contents of tasks"
_SHORTLY = 1.0
_REFERENCE = compile_later(r"sha256:([0-9a-f]{2})([0-9a-f]{62})")


class DiskBlobs:
    """`ports.blobs.Blobs` in a folder, which is created on first use. Processes may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unsynced: set[Path] = set()
        self._safe: set[Path] = set()
        self._named: set[Path] = set()  # folders whose own names are synced
        self._syncing = Lock()

    def put(self, data: bytes) -> str:
        name = blob_reference(data)
        path = self._path(name)
        if not _is_kept(path, data):
            _write_blob(path, data)
            self._safe.discard(path)
        if path not in self._safe:  # another process may have written it and not synced it
            self._unsynced.add(path)
        return name

    def get(self, ref: str) -> bytes:
        try:
            data = self._path(ref).read_bytes()
        except FileNotFoundError:
            raise KeyError(ref) from None
        if blob_reference(data) != ref:
            raise KeyError(ref)
        return data

    def sync(self) -> None:
        """Make everything put so far survive a power loss. Blocks. Raises OSError."""
        with self._syncing:  # a second caller must wait for the blobs that the first one took
            taken: set[Path] = set()
            try:
                while self._unsynced:
                    taken.add(self._unsynced.pop())
                self._sync(taken)
            except OSError:
                self._unsynced |= taken
                raise

    def _sync(self, paths: set[Path]) -> None:
        folders = {path.parent for path in paths}
        for path in (*paths, *folders):
            with suppress(FileNotFoundError):  # it was removed: nothing to sync
                sync_path(path)
        if not folders <= self._named:
            # The name of a new folder is in its parent, and that of the parent in the home.
            there = {self._folder / name for name in os.listdir(self._folder)}
            sync_path(self._folder)
            sync_path(self._folder.parent)
            self._named |= there
        self._safe |= paths

    def _path(self, reference: str) -> Path:
        found = _REFERENCE.fullmatch(reference)
        if found is None:
            raise KeyError(reference)
        return self._folder / found[1] / found[2]


def drop_blob(path: Path, before: float) -> bool:
    """Remove a blob that was not put since `before` (Unix seconds). False if it was, or if it is gone.

    Also False if another process holds the folder's lock: it can be removed later.
    """
    try:
        with lock_folder(path.parent, _KEEPS, patience=_SHORTLY):
            if not path.exists() or path.stat().st_mtime >= before:
                return False
            path.unlink()
            return True
    except (FileNotFoundError, LockHeld):
        return False


def _is_kept(path: Path, data: bytes) -> bool:
    """True if the blob exists and is intact. Its time is then updated, so that `drop_blob` keeps it."""
    if not path.exists():
        return False
    try:
        with lock_folder(path.parent, _KEEPS, shared=True):
            if path.read_bytes() != data:
                return False
            os.utime(path)
            return True
    except FileNotFoundError:
        return False


def _write_blob(path: Path, data: bytes) -> None:
    """Write a blob atomically: readers never see part of it."""
    make_private_folder(path.parent)
    temporary = path.with_name(f"{os.urandom(6).hex()}.tmp")
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=0o600)) as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
