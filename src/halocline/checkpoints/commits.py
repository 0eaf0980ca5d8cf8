"""Writes commits and references without starting git: both are small files of a documented form.

Each is whole or not there. Call with the store's lock in hand.
"""

import zlib
from hashlib import sha1
from pathlib import Path

_WHO = "Halocline <checkpoints@halocline.invalid>"


def write_commit(store: Path, tree: str, parent: str | None, label: str, at: int) -> str:
    """Keep a commit and give its hash; `at` is in Unix seconds."""
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
    lines += [f"author {_WHO} {at} +0000", f"committer {_WHO} {at} +0000", "", label.replace("\0", " ")]
    content = "\n".join(lines).encode(errors="replace")
    data = b"commit %d\0" % len(content) + content
    sha = sha1(data, usedforsecurity=False).hexdigest()
    path = store / "objects" / sha[:2] / sha[2:]
    # Git knows what is left of a killed writer by this name.
    _write(path, path.with_name(f"tmp_obj_{sha}"), zlib.compress(data))
    return sha


def write_ref(store: Path, ref: str, sha: str) -> None:
    """Let a reference name a commit."""
    path = store / ref
    _write(path, path.with_name(f"{path.name}.lock"), f"{sha}\n".encode())


def _write(path: Path, aside: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside.write_bytes(data)
    aside.replace(path)
