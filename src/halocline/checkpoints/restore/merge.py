"""Merges the changes of two sides to one file. Nothing is guessed: overlapping changes are not merged."""

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from halocline.checkpoints.store import objects
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import Git, GitFailed
from halocline.edits.alignment import list_opcodes
from halocline.files.encodings import decode_text
from halocline.protocol.values import Value

LARGEST = 1_000_000
"""Largest side in bytes that is merged."""

_SIZE = 57
"""Length of conflict markers: longer than any that files have in their own right."""
_MARKER = f"--marker-size={_SIZE}"
"""The option of `git merge-file` for what `_read_hunks` reads."""
_MARKS, _LAST = "<=>", 3

_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")


class Hunk(Value, frozen=True):
    """Lines that both sides changed; `line` is the number of the first one in the file as it is now."""

    line: int
    ours: str
    theirs: str


def merge_file(git: Git, base: Entry | None, now: Entry | None, target: Entry | None, *options: str) -> Entry | None:
    """The file with both sides' changes, saved in the store; None if they overlap or it is not text.

    `options` of `git merge-file` choose a side where they overlap; then a file that both sides added is merged, too.
    """
    if now is None or target is None or (base is None and not options):
        return None
    mode = target.mode if base and now.mode == base.mode else now.mode
    if (read := _read_sides(git, base, now, target)) is None:
        return None
    encoding, sides = read
    merged = _merge_lines(git, sides, *options)
    if merged is None:
        return None
    content = merged.decode("utf-8", "surrogatepass").encode(encoding) if encoding else merged
    return Entry(mode, objects.write_object(git.store, b"blob", content))


def list_hunks(git: Git, base: Entry | None, now: Entry, target: Entry) -> tuple[Hunk, ...]:
    """Return what overlaps; nothing if it is not text."""
    read = _read_sides(git, base, now, target)
    merged = _merge_lines(git, read[1], _MARKER) if read else None
    return _read_hunks(merged, read[1][0]) if read and merged is not None else ()


def _read_hunks(merged: bytes, now: bytes) -> tuple[Hunk, ...]:
    """Return what overlaps in the result of `git merge-file` with `_MARKER`, by its lines in `now`. Pure."""
    kept, found = _split_hunks(_split_lines(merged))
    place = _place_lines(kept, _split_lines(now))
    return tuple(Hunk(place(at) + 1, _join_lines(ours), _join_lines(theirs)) for at, ours, theirs in found)


def _split_hunks(lines: Sequence[str]) -> tuple[list[str], list[tuple[int, list[str], list[str]]]]:
    """Return the text with our side of all conflicts, and each conflict with its first line there."""
    kept: list[str] = []
    found: list[tuple[int, list[str], list[str]]] = []
    side, sides = 0, (list[str](), list[str]())
    for line in lines:
        mark = _MARKS.find(line[:1]) + 1 if line[:1] and line[:_SIZE] == line[:1] * _SIZE else 0
        if mark == side + 1 and mark < _LAST:
            if mark == 1:
                sides = [], []
                found.append((len(kept), *sides))
            side = mark
        elif mark == _LAST and side == _LAST - 1:
            side = 0
        else:
            kept += [line] if side < _LAST - 1 else []
            if side:
                sides[side - 1].append(line)
    return kept, found


def _place_lines(merged: Sequence[str], now: Sequence[str]) -> Callable[[int], int]:
    """Return where the lines of a text are in another version of it."""
    steps = list_opcodes(merged, now)

    def place(line: int) -> int:
        step = next((one for one in steps if one[1] <= line < one[2]), None)
        return min(step[3] + line - step[1], step[4]) if step else len(now)

    return place


def _split_lines(content: bytes) -> list[str]:
    return content.decode("latin-1").split("\n")


def _join_lines(lines: Sequence[str]) -> str:
    return decode_text("".join(f"{line}\n" for line in lines).encode("latin-1"))


def _read_sides(git: Git, base: Entry | None, now: Entry, target: Entry) -> tuple[str, list[bytes]] | None:
    """Return the encoding and the contents of both sides, with the base between them; None if one is not text."""
    try:
        sides = [git.run("cat-file", "blob", side.sha) if side else b"" for side in (now, base, target)]
    except GitFailed:  # without the base it is unknown which side changed what
        return None
    encoding = find_encoding(sides)
    if encoding is None or max(map(len, sides)) > LARGEST:
        return None
    return encoding, [side.decode(encoding).encode("utf-8", "surrogatepass") if encoding else side for side in sides]


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


def _merge_lines(git: Git, sides: Sequence[bytes], *options: str) -> bytes | None:
    with tempfile.TemporaryDirectory(dir=git.store, prefix="merge-") as folder:
        names = [os.path.join(folder, name) for name in ("now", "base", "target")]
        for name, content in zip(names, sides, strict=True):
            Path(name).write_bytes(content)
        try:
            # The exit code counts conflicts.
            return git.run("merge-file", "-p", "-q", *options, *names, accept=range(128 if options else 1))
        except GitFailed:
            return None
