"""Messages as encoded JSON, kept from one request to the next: a request costs only what is new in it."""

from binascii import b2a_base64
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

import msgspec

from halocline.ports.blobs import Blobs
from halocline.protocol.messages import Image, Message, Note, Text

F = TypeVar("F")

encode_json = msgspec.json.Encoder().encode


class Fragments(Generic[F]):
    """Remembers how each message of the newest request was encoded, by the message's identity.

    Messages are frozen, so an object that is met again is encoded the same way.
    """

    def __init__(self, encode: Callable[[Message], F]) -> None:
        self._encode = encode
        self._kept: dict[int, tuple[Message, F]] = {}

    def of(self, messages: Sequence[Message]) -> list[F]:
        """The fragment of each message. What is not among them is forgotten."""
        kept = self._kept
        entries = [kept.get(id(message)) or (message, self._encode(message)) for message in messages]
        self._kept = {id(message): entry for message, entry in zip(messages, entries, strict=True)}
        return [fragment for _, fragment in entries]


def joined(parts: Iterable[bytes]) -> bytes:
    return b",".join(parts)


def words(part: Text | Note) -> str:
    """A part's text. A note is wrapped in a tag that names its source."""
    return part.text if isinstance(part, Text) else f"<{part.source}>\n{part.text}\n</{part.source}>"


def picture(image: Image, blobs: Blobs) -> str | None:
    """The image's bytes in base64; None when the blob is gone."""
    try:
        return b2a_base64(blobs.get(image.blob), newline=False).decode("ascii")
    except KeyError:
        return None


MISSING_PICTURE = "[An image was here; its file is gone.]"
