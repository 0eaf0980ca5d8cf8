"""Type and size of an image from its first bytes. Pure: nothing is decoded."""

import struct

from halocline.protocol.values import Value

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


class PictureFacts(Value, frozen=True):
    """Facts of an image; `width` and `height` are in pixels, 0 if unknown."""

    media_type: str
    width: int = 0
    height: int = 0


def picture_facts(data: bytes) -> PictureFacts | None:
    """Return the facts of a PNG, JPEG, GIF or WebP file; None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return PictureFacts("image/png", *_unpack_size(">II", data, 16))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return PictureFacts("image/gif", *_unpack_size("<HH", data, 6))
    if data.startswith(b"\xff\xd8\xff"):
        return PictureFacts("image/jpeg", *_jpeg_size(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return PictureFacts("image/webp", *_webp_size(data))
    return None


def _unpack_size(form: str, data: bytes, at: int) -> tuple[int, int]:
    if len(data) < at + struct.calcsize(form):
        return 0, 0
    first, second = struct.unpack_from(form, data, at)
    return first, second


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Read width and height from the first frame; the segments before it are skipped."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        if data[at + 1] in _JPEG_FRAMES:
            height, width = _unpack_size(">HH", data, at + 5)
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    """Read width and height; the three kinds of WebP store them differently."""
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case _:
            width, height = _unpack_size("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
