"""Messages as encoded JSON, kept from one request to the next: a request costs only what is new in it."""

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
    """Remembers how each message of the newest request was encoded, as far as the next request begins with the same.

    Messages are frozen, so an object that is met again is encoded the same way.
    """

    def __init__(self, encode: Callable[[Message], F]) -> None:
        self._encode = encode
        self._messages: Sequence[Message] = ()
        self._encoded: list[F] = []

    def of(self, messages: Sequence[Message]) -> Sequence[F]:
        """The fragment of each message. What is not among them is forgotten."""
        same = _in_common(self._messages, messages)
        self._encoded[same:] = map(self._encode, messages[same:])
        self._messages = messages
        return self._encoded


def _in_common(old: Sequence[Message], new: Sequence[Message]) -> int:
    """How many messages from the first one on are the same objects."""
    if len(new) >= len(old) and all(map(is_, old, new)):
        return len(old)
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one is not other), min(len(old), len(new)))


def separate_parts(parts: Sequence[bytes]) -> list[bytes]:
    """The parts with a comma between each two, not yet copied together."""
    out = [b","] * (2 * len(parts) - 1)
    out[::2] = parts
    return out


def join_parts(parts: Iterable[bytes]) -> bytes:
    return b",".join(parts)


def encode_image(image: Image, blobs: Blobs) -> str | None:
    """The image's bytes in base64; None when the blob is gone."""
    try:
        return b2a_base64(blobs.get(image.blob), newline=False).decode("ascii")
    except KeyError:
        return None


MISSING_PICTURE = "[An image was here; its file is gone.]"
