"""Bodies that a server compressed although it was asked not to. Pure."""

import zlib
from collections.abc import Iterator

from halocline.net.connection import ProtocolError

_CODINGS = frozenset({"gzip", "x-gzip", "deflate"})
_ANY_HEADER = 47
"""Reads the headers of gzip and of zlib."""
_PIECE = 1 << 20
"""Bytes of one decoded piece: a few compressed ones may stand for gigabytes."""


class Inflater:
    """Decodes a body of this content coding. One that is not compressed, whatever its head says, stays as it is."""

    def __init__(self, coding: str) -> None:
        self._is_plain = coding.strip().lower() not in _CODINGS
        self._begin: bytes | None = b""
        self._decoder = zlib.decompressobj(_ANY_HEADER)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what a chunk decodes to. Raises ProtocolError if it is damaged."""
        if self._begin is not None and not self._is_plain:
            self._begin += chunk
            if len(self._begin) < 2:
                return
            chunk, self._begin = self._begin, None
            self._is_plain = not _is_compressed(chunk)
        if self._is_plain:
            yield chunk
            return
        try:
            yield from self._inflate(chunk)
        except zlib.error as error:
            raise ProtocolError(str(error)) from error

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._decoder.eof:  # the next one of several members
                self._decoder = zlib.decompressobj(_ANY_HEADER)
            if piece := self._decoder.decompress(data, _PIECE):
                yield piece
            data = self._decoder.unconsumed_tail or self._decoder.unused_data

    def rest(self) -> bytes:
        """Return what waits for a second byte."""
        return self._begin or b""


def _is_compressed(begin: bytes) -> bool:
    """True for the magic of gzip, and for a header of zlib."""
    return begin[:2] == b"\x1f\x8b" or (begin[0] & 15 == 8 and int.from_bytes(begin[:2]) % 31 == 0)
