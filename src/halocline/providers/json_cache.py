"""Cache of messages as encoded JSON: encoding a request costs only what is new in it, however long it has become."""

from binascii import b2a_base64
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import msgspec

from halocline.ports.blobs import Blobs
from halocline.protocol.messages import AssistantMessage, Image, Message, ToolResult, UserPart
from halocline.protocol.state.persistent import count_common
from halocline.protocol.values import JsonObject, Value
from halocline.providers.reply import answered_calls

F = TypeVar("F")
Write = Callable[[Sequence[Message], Sequence[F]], bytes]
"""Writes messages and their fragments, in this order, as they stand in a request."""
_RUN = 64
"""Fewest messages of a run."""

encode_json = msgspec.json.Encoder().encode


class Fragment(Value, frozen=True):
    """One encoded message, or a tool result's text. `pictures` are a result's images, as parts joined by commas."""

    message: bytes
    pictures: bytes = b""

    def __bool__(self) -> bool:
        return bool(self.message)


class Fragments(Generic[F]):
    """Caches the encoding of each message of the newest request, for the messages the next one starts with.

    Messages are frozen, so the same object always has the same encoding. `calls` are the calls that have results.
    """

    def __init__(self, encode: Callable[[Message], F]) -> None:
        self.calls: set[str] = set()
        self._encode = encode
        self._messages: Sequence[Message] = ()
        self._encoded: list[F] = []
        self._runs: list[tuple[int, bytes]] = []
        """Where each run of messages ends, and what was written of it."""

    def of(self, messages: Sequence[Message]) -> Sequence[F]:
        """Return the fragment of each message; forget all others."""
        same = count_common(self._messages, messages)
        if same < len(self._messages):
            self.calls = answered_calls(messages[:same])
            self._runs = [run for run in self._runs if run[0] <= same]
        self.calls |= answered_calls(messages[same:])
        self._encoded[same:] = map(self._encode, messages[same:])
        self._messages = messages
        return self._encoded

    def written(self, messages: Sequence[Message], write: Write[F]) -> list[bytes]:
        """Return what `write` makes of the messages, in few parts; empty ones are left out."""
        runs = self.runs(messages, write)
        begin = runs[-1][0] if runs else 0
        rest = write(messages[begin:], self._encoded[begin:])
        return [part for part in (*(part for _, part in runs), rest) if part]

    def runs(self, messages: Sequence[Message], write: Write[F]) -> Sequence[tuple[int, bytes]]:
        """Return what `write` makes of runs of the messages, each with its end, which is before a reply.

        A run is written once, so the work does not grow with the messages. The newest messages are in none.
        """
        encoded = self.of(messages)
        begin = self._runs[-1][0] if self._runs else 0
        for at in range(begin + _RUN, len(messages)):
            if at - begin >= _RUN and self._changes_sides(at):
                self._runs.append((at, write(messages[begin:at], encoded[begin:at])))
                begin = at
        return self._runs

    def _changes_sides(self, at: int) -> bool:
        """Return True if a reply follows something else, and both are sent: messages of one side may become one."""
        before, after = self._messages[at - 1], self._messages[at]
        is_reply = isinstance(after, AssistantMessage) and not isinstance(before, AssistantMessage)
        return is_reply and bool(self._encoded[at - 1] and self._encoded[at])


def separate_parts(parts: Sequence[bytes]) -> list[bytes]:
    """Insert a comma between each two parts, without joining them."""
    out = [b","] * (2 * len(parts) - 1)
    out[::2] = parts
    return out


def join_parts(parts: Iterable[bytes]) -> bytes:
    return b",".join(parts)


def encode_parts(parts: Iterable[JsonObject]) -> bytes:
    return join_parts(map(encode_json, parts))


class PartForm(NamedTuple):
    """The form in which a format writes text, and a picture of a type in base64."""

    text: Callable[[str], JsonObject]
    picture: Callable[[str, str], JsonObject]

    def encode(self, part: UserPart, blobs: Blobs) -> JsonObject:
        """Encode text or a picture; words stand for one whose file is gone."""
        if not isinstance(part, Image):
            return self.text(part.words)
        data = encode_image(part, blobs)
        return self.text(MISSING_PICTURE) if data is None else self.picture(part.media_type, data)

    def encode_all(self, parts: Iterable[UserPart], blobs: Blobs) -> list[JsonObject]:
        """Encode content without blank text, which many APIs reject."""
        return [self.encode(part, blobs) for part in parts if isinstance(part, Image) or part.words.strip()]

    def encode_plain(self, parts: Sequence[UserPart], blobs: Blobs) -> str | list[JsonObject]:
        """Encode content as plain text if possible: not every server accepts a list of parts."""
        words = [part.words for part in parts if not isinstance(part, Image)]
        return "\n\n".join(words) if len(words) == len(parts) else [self.encode(part, blobs) for part in parts]


def encode_image(image: Image, blobs: Blobs) -> str | None:
    """Return the image in base64; None when its blob is gone."""
    try:
        return b2a_base64(blobs.get(image.blob), newline=False).decode("ascii")
    except KeyError:
        return None


def text_of_result(result: ToolResult) -> str:
    """Return a result's text, for formats that cannot mark a failed call otherwise."""
    return f"Error: {result.text}" if result.is_error else result.text


MISSING_PICTURE = "[Image missing: its file is gone.]"
