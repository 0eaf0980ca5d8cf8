"""Reads the index of the project's git, and writes what of it a store can use. The form: git's `index-format`.

What is not understood for certain is refused: reading all files is slow, and never wrong.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from halocline.protocol.errors import HaloclineError

# Mode, size and flags, which stand among times, numbers and the hash.
_FIELDS = struct.Struct(">24xI8xI20xH")
_HEAD, _FIXED = 12, 62
_LONG_NAME, _EXTENDED, _SPECIAL = 0x0FFF, 0x4000, 0xF000
_PLAIN = frozenset((0o100644, 0o100755, 0o120000))
# Extensions that change nothing about what the entries mean. A shared index and folders in place of files do.
_HARMLESS = frozenset((b"TREE", b"REUC", b"UNTR", b"FSMN", b"EOIE", b"IEOT"))
_SHA = 20


class Unreadable(HaloclineError):
    """An index of a form that is not understood."""

    code = "index_unreadable"


class Entry(NamedTuple):
    """A file that the index knows; there are very many of them, and a tuple is made fastest.

    `path` is within the repository; `packed` is how the index holds it. `is_plain`: a file or a link that is in the
    work tree, and about whose state git was told nothing special. `size` is of the file as it was read.
    """

    path: bytes
    size: int
    is_plain: bool
    packed: bytes

    @property
    def sha(self) -> str:
        return self.packed[40:60].hex()


def parse(data: bytes) -> tuple[list[Entry], bytes]:
    """The entries, and what the index knows of the trees of folders.

    Raises:
        Unreadable: the index is of another form.
    """
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise Unreadable(f"version {version}")
    try:
        entries, end = _short(data, count) if version == 4 else _long(data, count)
        return entries, _trees(data, end)
    except (IndexError, ValueError, struct.error) as error:
        raise Unreadable(str(error)) from error


def below(entries: Iterable[Entry], folder: bytes) -> list[Entry]:
    """Those in a folder, as an index of this folder alone has them."""
    start = folder + b"/"
    inside = (entry for entry in entries if entry.path.startswith(start))
    return [
        entry._replace(path=entry.path[len(start) :], packed=_packed(entry.packed, entry.path[len(start) :]))
        for entry in inside
    ]


def written(entries: Sequence[Entry], trees: bytes) -> bytes:
    """An index of these, without its checksum."""
    head = (b"DIRC", (2).to_bytes(4, "big"), len(entries).to_bytes(4, "big"))
    return b"".join((*head, *(entry.packed for entry in entries), trees))


def _packed(like: bytes, path: bytes) -> bytes:
    length = len(path)
    return like[:60] + min(length, _LONG_NAME).to_bytes(2, "big") + path + b"\0" * (8 - (_FIXED + length) % 8)


def _long(data: bytes, count: int) -> tuple[list[Entry], int]:
    """The entries of versions 2 and 3, and where they end."""
    entries, at, unpack = [], _HEAD, _FIELDS.unpack_from
    for _ in range(count):
        mode, size, flags = unpack(data, at)
        start = at + _FIXED + (2 if flags & _EXTENDED else 0)
        length = flags & _LONG_NAME
        stop = start + length if length < _LONG_NAME else data.index(b"\0", start)
        following = at + (stop - at + 8 & ~7)
        is_plain = mode in _PLAIN and not flags & _SPECIAL
        entries.append(Entry(data[start:stop], size, is_plain, data[at:following]))
        at = following
    return entries, at


def _short(data: bytes, count: int) -> tuple[list[Entry], int]:
    """The entries of version 4, where a name says how it differs from the last, and where they end."""
    entries, at, name = [], _HEAD, b""
    for _ in range(count):
        mode, size, flags = _FIELDS.unpack_from(data, at)
        strip, start = _number(data, at + _FIXED + (2 if flags & _EXTENDED else 0))
        stop = data.index(b"\0", start)
        name = name[: len(name) - strip] + data[start:stop]
        is_plain = mode in _PLAIN and not flags & _SPECIAL
        entries.append(Entry(name, size, is_plain, _packed(data[at : at + 60], name)))
        at = stop + 1
    return entries, at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = (value + 1) << 7 | data[at] & 127
    return value, at + 1


def _trees(data: bytes, at: int) -> bytes:
    found = b""
    while at < len(data) - _SHA:
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "big")
        if name not in _HARMLESS:
            raise Unreadable(f"extension {name!r}")
        if name == b"TREE":
            found = data[at : at + 8 + size]
        at += 8 + size
    return found
