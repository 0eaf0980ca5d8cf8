"""Writes and reads git's objects and references without starting git: small files in a documented format.

Writes are atomic. The store's lock must be held, except for objects that are saved ahead of a checkpoint.
"""

import os
import zlib
from contextlib import suppress
from functools import partial
from hashlib import sha1
from pathlib import Path
from threading import get_ident

from halocline.files.durable import sync_path, sync_paths

_WHO = "Halocline <checkpoints@halocline.invalid>"


def write_commit(store: Path, tree: str, parent: str | None, label: str, at: int) -> str:
    """Save a commit and return its hash; `at` is in Unix seconds."""
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
    lines += [f"author {_WHO} {at} +0000", f"committer {_WHO} {at} +0000", "", label.replace("\0", " ")]
    return write_object(store, b"commit", "\n".join(lines).encode(errors="replace"))


def write_ref(store: Path, ref: str, sha: str) -> None:
    """Point a reference to a commit, durably. What the commit leads to must be synced already."""
    path, folder = f"{store}/{ref}", os.path.dirname(f"{store}/{ref}")
    is_first = not os.path.isdir(folder)
    _make_private(folder)
    write_private(f"{path}.lock", f"{sha}\n".encode())
    sync_path(f"{path}.lock")
    os.replace(f"{path}.lock", path)
    sync_paths([f"{store}/{above}" for above in Path(ref).parents] if is_first else [folder])


def write_object(store: Path, kind: bytes, content: bytes) -> str:
    """Save an object and return its hash. An intact existing one is not written again."""
    data = b"%b %d\0" % (kind, len(content)) + content
    sha = sha1(data, usedforsecurity=False).hexdigest()
    path = place_object(store, sha)
    if not _does_hold(path, data):
        # Git recognizes leftovers of killed writers by this name; two threads may write the same object.
        aside = f"{path[: -len(sha) + 2]}tmp_obj_{sha[:20]}_{get_ident():x}"
        _write_object_file(path, aside, zlib.compress(data, 1))
    return sha


def read_object(store: Path, sha: str) -> bytes:
    """The content of an object. Raises FileNotFoundError if it is in a pack or damaged."""
    try:
        return zlib.decompress(_read_file(place_object(store, sha))).partition(b"\0")[2]
    except zlib.error as error:
        raise FileNotFoundError(sha) from error


def place_object(store: Path, sha: str) -> str:
    """The path of an object that is not in a pack."""
    return f"{store}/objects/{sha[:2]}/{sha[2:]}"


def write_private(path: Path | str, data: bytes) -> None:
    """Write a file that only the user can open."""
    with open(path, "wb", opener=partial(os.open, mode=0o600)) as file:
        file.write(data)


def _does_hold(path: str, data: bytes) -> bool:
    try:
        return zlib.decompress(_read_file(path)) == data
    except (FileNotFoundError, zlib.error):
        return False


def _read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _make_private(folder: str) -> None:
    """Create a folder and missing ones above it, all private; `makedirs` would use the umask."""
    if not os.path.isdir(folder):
        _make_private(os.path.dirname(folder))
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)


def _write_object_file(path: str, aside: str, data: bytes) -> None:
    _make_private(os.path.dirname(path))
    write_private(aside, data)
    os.replace(aside, path)
