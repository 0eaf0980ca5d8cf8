"""Merges the changes of two sides to one file. Nothing is guessed: overlapping changes are not merged."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from halocline.checkpoints.store import objects
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import Git, GitFailed

LARGEST = 1_000_000
"""Largest side in bytes that is merged."""

_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")


def merge_file(git: Git, base: Entry | None, now: Entry | None, target: Entry | None) -> Entry | None:
    """The file with both sides' changes, saved in the store; None if they overlap or it is not text."""
    if base is None or now is None or target is None:
        return None
    mode = target.mode if now.mode == base.mode else now.mode
    try:
        sides = [git.run("cat-file", "blob", side.sha) for side in (now, base, target)]
    except GitFailed:  # without the base it is unknown which side changed what
        return None
    encoding = find_encoding(sides)
    if encoding is None or max(map(len, sides)) > LARGEST:
        return None
    if encoding:
        sides = [side.decode(encoding).encode("utf-8", "surrogatepass") for side in sides]
    merged = _merge_lines(git, sides)
    if merged is None:
        return None
    content = merged.decode("utf-8", "surrogatepass").encode(encoding) if encoding else merged
    return Entry(mode, objects.write_object(git.store, b"blob", content))


def find_encoding(sides: Sequence[bytes]) -> str | None:
    """Return the encoding of two or four bytes a character that all sides have; empty for others, None if not text."""
    if not any(b"\0" in side for side in sides):
        return ""
    return next((one for one in _WIDE if all(_is_text(side, one) for side in sides)), None)


def _is_text(content: bytes, encoding: str) -> bool:
    """True if it is text in an encoding: it has the mark at its beginning, or most characters are ASCII."""
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return "\0" not in text and (text[:1] in ("", "\ufeff") or 2 * sum(map(str.isascii, text)) > len(text))


def _merge_lines(git: Git, sides: Sequence[bytes]) -> bytes | None:
    with tempfile.TemporaryDirectory(dir=git.store, prefix="merge-") as folder:
        names = [os.path.join(folder, name) for name in ("now", "base", "target")]
        for name, content in zip(names, sides, strict=True):
            Path(name).write_bytes(content)
        try:
            return git.run("merge-file", "-p", "-q", *names)
        except GitFailed:
            return None
