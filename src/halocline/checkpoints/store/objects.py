"""Writes and reads git's objects and references without starting git: small files in a documented format.

Writes are atomic. The store's lock must be held, except for objects that are saved ahead of a checkpoint.
"""

import os
import zlib
from functools import partial
from hashlib import sha1
from pathlib import Path
from threading import get_ident

_WHO = "Halocline <checkpoints@halocline.invalid>"


def write_commit(store: Path, tree: str, parent: str | None, label: str, at: int) -> str:
    """Save a commit and return its hash; `at` is in Unix seconds."""
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
    lines += [f"author {_WHO} {at} +0000", f"committer {_WHO} {at} +0000", "", label.replace("\0", " ")]
    return write_object(store, b"commit", "\n".join(lines).encode(errors="replace"))


def write_ref(store: Path, ref: str, sha: str) -> None:
    """Point a reference to a commit."""
    path = store / ref
    _write_object_file(path, path.with_name(f"{path.name}.lock"), f"{sha}\n".encode())


def write_object(store: Path, kind: bytes, content: bytes) -> str:
    """Save an object and return its hash. An intact existing one is not written again."""
    data = b"%b %d\0" % (kind, len(content)) + content
    sha = sha1(data, usedforsecurity=False).hexdigest()
    path = object_place(store, sha)
    if not _does_hold(path, data):
        # Git recognizes leftovers of killed writers by this name; two threads may write the same object.
        _write_object_file(path, path.with_name(f"tmp_obj_{sha[:20]}_{get_ident():x}"), zlib.compress(data, 1))
    return sha


def read_object(store: Path, sha: str) -> bytes:
    """The content of an object. Raises FileNotFoundError if it is in a pack or damaged."""
    try:
        return zlib.decompress(object_place(store, sha).read_bytes()).partition(b"\0")[2]
    except zlib.error as error:
        raise FileNotFoundError(sha) from error


def _does_hold(path: Path, data: bytes) -> bool:
    try:
        return zlib.decompress(path.read_bytes()) == data
    except (FileNotFoundError, zlib.error):
        return False


def object_place(store: Path, sha: str) -> Path:
    """The path of an object that is not in a pack."""
    return store / "objects" / sha[:2] / sha[2:]


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only the user can open."""
    with open(path, "wb", opener=partial(os.open, mode=0o600)) as file:
        file.write(data)


def _make_private(folder: Path) -> None:
    """Create a folder and missing ones above it, all private; `mkdir(parents=True)` would use the umask."""
    if not folder.exists():
        _make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _write_object_file(path: Path, aside: Path, data: bytes) -> None:
    _make_private(path.parent)
    write_private(aside, data)
    aside.replace(path)
