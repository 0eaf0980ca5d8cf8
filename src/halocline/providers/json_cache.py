"""Cache of messages as encoded JSON: encoding a request costs only what is new in it."""

from binascii import b2a_base64
from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import Generic, TypeVar

import msgspec

from halocline.ports.blobs import Blobs
from halocline.protocol.messages import Image, Message

F = TypeVar("F")

encode_json = msgspec.json.Encoder().encode


class Fragments(Generic[F]):
    """Caches the encoding of each message of the newest request, for the messages the next one starts with.

    Messages are frozen, so the same object always has the same encoding.
    """

    def __init__(self, encode: Callable[[Message], F]) -> None:
        self._encode = encode
        self._messages: Sequence[Message] = ()
        self._encoded: list[F] = []

    def of(self, messages: Sequence[Message]) -> Sequence[F]:
        """Return the fragment of each message; forget all others."""
        same = _in_common(self._messages, messages)
        self._encoded[same:] = map(self._encode, messages[same:])
        self._messages = messages
        return self._encoded


def _in_common(old: Sequence[Message], new: Sequence[Message]) -> int:
    """Count the leading messages that are the same objects."""
    if len(new) >= len(old) and all(map(is_, old, new)):
        return len(old)
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one is not other), min(len(old), len(new)))


def separate_parts(parts: Sequence[bytes]) -> list[bytes]:
    """Insert a comma between each two parts, without joining them."""
    out = [b","] * (2 * len(parts) - 1)
    out[::2] = parts
    return out


def join_parts(parts: Iterable[bytes]) -> bytes:
    return b",".join(parts)


def encode_image(image: Image, blobs: Blobs) -> str | None:
    """Return the image in base64; None when its blob is gone."""
    try:
        return b2a_base64(blobs.get(image.blob), newline=False).decode("ascii")
    except KeyError:
        return None


MISSING_PICTURE = "[Image missing: its file is gone.]"
