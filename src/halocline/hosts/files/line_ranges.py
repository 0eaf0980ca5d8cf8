"""Reads lines from a file of any size: scans it once, in pieces, and keeps only the requested lines."""

import codecs
from contextlib import suppress
from io import TextIOWrapper
from typing import BinaryIO

from halocline.edits.text import MARKS, BinaryContent, decode_text
from halocline.files.encodings import WIDE
from halocline.ports.host import LineRange

PIECE = 1 << 20
"""Bytes scanned at a time."""
ENCODINGS = ("utf-8", "cp1252", "latin-1")
"""The first one that fits the whole file is used, after what is declared and before what its beginning looks like."""


def read_lines(file: BinaryIO, first: int, last: int, limit: int, declared: str = "") -> LineRange:
    """Read the lines from `first` to `last` (from 1), clamped to the file, at most `limit` bytes."""
    if encoding := _find_wide(file):
        return _read_wide(file, first, last, limit, encoding)
    starts, total, encoding = _look_through(file, declared)
    first = min(max(first, 1), max(total, 1))
    if not encoding:
        return LineRange(b"", first, total, encoding)
    return LineRange(_cut_lines(file, starts, first, last, limit), first, total, encoding)


def _find_wide(file: BinaryIO) -> str:
    """Return the encoding that a mark says, if its characters have several bytes, and skip the mark; else nothing."""
    file.seek(0)
    beginning = file.read(4)
    wide = (row for row in MARKS if row[1] in WIDE and beginning.startswith(row[0]))
    mark, encoding = next(wide, (b"", ""))
    file.seek(len(mark))
    return encoding


def _read_wide(file: BinaryIO, first: int, last: int, limit: int, encoding: str) -> LineRange:
    text = TextIOWrapper(file, encoding, newline="\n")
    taken: list[bytes] = []
    total, end = 0, b""
    try:
        for total, line in enumerate(text, 1):
            end = line.encode(encoding)[: max(limit, 0)]
            if first <= total <= last:
                taken.append(end)
                limit -= len(end)
    except UnicodeError:
        return LineRange(b"", first, 0, "")
    finally:
        text.detach()
    return LineRange(b"".join(taken) if first <= total else end, min(max(first, 1), max(total, 1)), total, encoding)


def _look_through(file: BinaryIO, declared: str) -> tuple[list[int], int, str]:
    """Return the number of lines that end before each piece, the total, and the encoding (empty if it is not text)."""
    file.seek(0)
    decoders = {name: codecs.getincrementaldecoder(name)() for name in _likely_encodings(file.read(PIECE), declared)}
    starts, lines, end = [], 0, b"\n"
    file.seek(0)
    while piece := file.read(PIECE):
        if b"\0" in piece:
            return [], 0, ""
        starts.append(lines)
        lines, end = lines + piece.count(b"\n"), piece
        decoders = {name: decoder for name, decoder in decoders.items() if _is_decodable(decoder, piece)}
    encoding = next(name for name, decoder in decoders.items() if _is_decodable(decoder, b"", final=True))
    return starts, lines + (not end.endswith(b"\n")), encoding


def _likely_encodings(beginning: bytes, declared: str) -> list[str]:
    """The encodings to try, by the whole lines of the file's beginning."""
    whole = beginning[: beginning.rfind(b"\n") + 1] or beginning
    with suppress(BinaryContent):
        found = decode_text(whole, declared)
        if found.known is None and (found.encoding not in ENCODINGS or declared):
            return [found.encoding, *ENCODINGS]
    return [*ENCODINGS]


def _is_decodable(decoder: codecs.IncrementalDecoder, piece: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(piece, final)
    except UnicodeDecodeError:
        return False
    return True


def _cut_lines(file: BinaryIO, starts: list[int], first: int, last: int, limit: int) -> bytes:
    """The bytes of the lines; the search starts at the last piece that begins before the first of them."""
    before = max((at for at, lines in enumerate(starts) if lines < first - 1), default=0)
    file.seek(before * PIECE)
    for _ in range(first - 1 - (starts[before] if starts else 0)):
        _skip_line(file)
    taken: list[bytes] = []
    for _ in range(first, last + 1):
        line = file.readline(limit)
        if not line or limit <= 0:
            break
        taken.append(line)
        limit -= len(line)
    return b"".join(taken)


def _skip_line(file: BinaryIO) -> None:
    while (part := file.readline(PIECE)) and not part.endswith(b"\n"):
        pass
