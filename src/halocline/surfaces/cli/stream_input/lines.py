"""A line of standard input: a user message in Claude Code's format, or a command of `protocol.commands`.

Messages look like `{"type": "user", "message": {"role": "user", "content": "…"}}`; other fields are ignored.
"""

import base64
import binascii
from typing import Any

import msgspec

from halocline.protocol import commands as cmd, json_input
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Tagged, Value

LONGEST_LINE = 64 * 2**20
"""Bytes: a prompt may contain images."""


class TextBlock(Value, frozen=True, tag_field="type", tag="text"):
    """Text of a message."""

    text: str


class ImageSource(Value, frozen=True):
    """Data of an image, as base64."""

    data: str
    type: str = "base64"
    media_type: str = ""


class ImageBlock(Value, frozen=True, tag_field="type", tag="image"):
    """An image of a message."""

    source: ImageSource

    def decode(self) -> bytes:
        """Return the bytes. Raises UsageError."""
        try:
            return base64.b64decode(self.source.data, validate=True)
        except binascii.Error as error:
            raise UsageError(f"An image is not base64: {error}.", "Only images of the type base64 work.") from error


class Message(Value, frozen=True):
    """Role and content of a user message."""

    content: str | tuple[TextBlock | ImageBlock, ...]
    role: str = "user"

    @property
    def blocks(self) -> tuple[TextBlock | ImageBlock, ...]:
        return (TextBlock(self.content),) if isinstance(self.content, str) else self.content


class User(Tagged, frozen=True):
    """A message of the user: it starts a turn, or is queued while one runs."""

    message: Message


class SetModel(Tagged, frozen=True):
    """Switch to another model, between turns."""

    model: str


Line = User | SetModel | cmd.AnyCommand
TYPES = {kind.__struct_config__.tag: kind for kind in Line.__args__}


class InputError(Tagged, frozen=True):
    """Line number `line` of standard input was not carried out; the program reads on."""

    line: int
    text: str
    hint: str = ""


def parse_line(line: bytes, task: str) -> Line:
    """Parse a line; a command without a task is for this one. Raises UsageError."""
    try:
        found = json_input.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"The line is not JSON: {error}.", "Send one JSON object per line.") from error
    if not isinstance(found, dict):
        raise UsageError("The line is not a JSON object.", "Send one JSON object per line.")
    kind = found.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise UsageError(f"Unknown type {kind!r}.", f"Known: {', '.join(sorted(TYPES))}.")
    return _convert({**found, "task": found.get("task") or task})


def _convert(found: dict[str, Any]) -> Line:
    try:
        line: Line = msgspec.convert(found, Line)
    except msgspec.ValidationError as error:
        fields = ", ".join(name for name in TYPES[found["type"]].__struct_fields__ if name not in ("task", "client"))
        raise UsageError(f"The fields of {found['type']} are wrong: {error}.", f"Its fields: {fields}.") from error
    return line
