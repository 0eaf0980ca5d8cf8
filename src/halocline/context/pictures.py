"""The one door for pictures: whatever shows a picture to a model asks here, and nothing else makes an image part.

What must stay true: a picture in the log is one of the types that models take, whole, and named by what it is, not by
what somebody called it; and it is small enough for every vendor.
"""

import asyncio
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator

from halocline.context.images import PictureFacts, picture_facts
from halocline.ports.blobs import Blobs
from halocline.ports.documents import Documents
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import Image, ResultPart, Text

LARGEST_PICTURE = 3_750_000
"""Bytes; 5 MB in base64, the most that every vendor accepts."""
LONGEST_SIDE = 8_000
SMALLER_SIDE = 1_568
"""Pixels of the longer side; models see no more, and some refuse more beside many pictures."""
CUT_OFF, DAMAGED = "it is cut off", "its data is damaged"
_MOST_UNPACKED = 200_000_000
_PNG_CHUNK = struct.Struct(">I4s")


def keep_picture(data: bytes, put: Callable[[bytes], str]) -> Image:
    """Store a picture as it is, and return it. Raises ToolFailure with the reason if it is none, or not whole."""
    facts = picture_facts(data)
    if facts is None:
        raise ToolFailure("it is no PNG, JPEG, GIF or WebP" if data else "it is empty")
    if flaw := find_flaw(data, facts):
        raise ToolFailure(flaw)
    return Image(facts.media_type, put(data))


async def load_picture(name: str, data: bytes, documents: Documents, blobs: Blobs) -> tuple[str, Image]:
    """Return a description and the picture, scaled down if it is large. Raises ToolFailure if it cannot be shown."""
    facts = picture_facts(data) or PictureFacts("")
    description = describe_picture(name, data, facts)
    if max(facts.width, facts.height) > SMALLER_SIDE or len(data) > LARGEST_PICTURE:
        try:
            data = (await documents.smaller(data, SMALLER_SIDE, LARGEST_PICTURE)).data
            description += f"; scaled down to at most {SMALLER_SIDE} pixels"
        except ToolFailure as failure:
            if max(facts.width, facts.height) > LONGEST_SIDE or len(data) > LARGEST_PICTURE:
                raise ToolFailure(f"{description}. It is too large to show in full size. {failure.text}") from None
    try:
        return description, await asyncio.to_thread(keep_picture, data, blobs.put)
    except ToolFailure as failure:
        raise ToolFailure(f"{name} cannot be shown as a picture: {failure.text}.") from None


async def fit_pictures(parts: Iterable[ResultPart], documents: Documents, blobs: Blobs) -> tuple[ResultPart, ...]:
    """Scale the pictures among the parts of a result; one that cannot be shown becomes words."""
    fitted: list[ResultPart] = []
    for part in parts:
        if not isinstance(part, Image):
            fitted.append(part)
            continue
        try:
            fitted.append((await load_picture("image", blobs.get(part.blob), documents, blobs))[1])
        except ToolFailure as failure:
            fitted.append(Text(f"[{failure.text}]"))
    return tuple(fitted)


def describe_picture(name: str, data: bytes, facts: PictureFacts) -> str:
    """`shot.png: image/png, 800×600 pixels, 12,345 bytes`."""
    return f"{name}: {facts.media_type}, {facts.width}×{facts.height} pixels, {len(data):,} bytes"


def find_flaw(data: bytes, facts: PictureFacts) -> str:
    """Return what a file that begins like a picture lacks to be one; empty if it is whole."""
    if not (facts.width and facts.height):
        return CUT_OFF
    match facts.media_type:
        case "image/png":
            return _find_flaw_of_png(data)
        case "image/jpeg":
            return "" if _has_jpeg_end(data) else CUT_OFF
        case "image/gif":
            return "" if any(_gif_images(data)) else CUT_OFF
    return "" if len(data) >= int.from_bytes(data[4:8], "little") + 8 else CUT_OFF


def _find_flaw_of_png(data: bytes) -> str:
    """Read every chunk, with its checksum, and unpack the pixels."""
    at, unpacker, unpacked = 8, zlib.decompressobj(), 0
    while at + 12 <= len(data):
        length, kind = _PNG_CHUNK.unpack_from(data, at)
        content = data[at + 8 : at + 8 + length]
        if at + 12 + length > len(data):
            return CUT_OFF
        if zlib.crc32(kind + content) != int.from_bytes(data[at + 8 + length : at + 12 + length], "big"):
            return DAMAGED
        if kind == b"IDAT" and unpacked < _MOST_UNPACKED:
            try:
                unpacked += len(unpacker.decompress(content, _MOST_UNPACKED))
            except zlib.error:
                return DAMAGED
        if kind == b"IEND":
            return "" if unpacker.eof or unpacked >= _MOST_UNPACKED else DAMAGED
        at += 12 + length
    return CUT_OFF


def _has_jpeg_end(data: bytes) -> bool:
    """True if the picture's own data begins, and an end follows it: a preview within has one too."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        if data[at + 1] == 0xDA:
            return data.find(b"\xff\xd9", at) > 0
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return False


def _gif_images(data: bytes) -> Iterator[bool]:
    """Yield True for each whole image."""
    at = 13 + _gif_colours(data[10]) if len(data) > 13 else 13
    while at < len(data) and data[at] in (0x21, 0x2C):
        is_image = data[at] == 0x2C
        at += 11 + _gif_colours(data[at + 9]) if is_image and at + 10 < len(data) else 2
        while at < len(data) and data[at]:
            at += 1 + data[at]
        if at >= len(data):
            return
        at += 1
        if is_image:
            yield True


def _gif_colours(flags: int) -> int:
    """Return the bytes of a table of colours."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0
