"""Large or binary content on disk, named by the hash of its bytes."""

import os
import re
from pathlib import Path

from halocline.ports.blobs import reference

_REFERENCE = re.compile(r"sha256:([0-9a-f]{2})([0-9a-f]{62})")


class DiskBlobs:
    """Fulfils `ports.blobs.Blobs` in a folder, which is made when first needed. Many processes may share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        name = reference(data)
        path = self._path(name)
        if not path.exists():
            _write(path, data)
        return name

    def get(self, ref: str) -> bytes:
        try:
            return self._path(ref).read_bytes()
        except FileNotFoundError:
            raise KeyError(ref) from None

    def _path(self, reference: str) -> Path:
        found = _REFERENCE.fullmatch(reference)
        if found is None:
            raise KeyError(reference)
        return self._folder / found[1] / found[2]


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all: a reader never sees part of a blob."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{os.urandom(6).hex()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
