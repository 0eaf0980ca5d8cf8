"""Shortens messages that a model cannot read whole: head and tail stay, and a marker says how much is missing.

This is the last resort: whatever else is left out, a message keeps its place, its calls and their ids.
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from halocline.context.token_estimate import BYTES, IMAGE, estimate_tokens, message_tokens
from halocline.protocol.left_out import describe_gap
from halocline.protocol.messages import AssistantMessage, Image, Message, Note, Text, Thinking, ToolCall

NO_PICTURE = "[image omitted: not enough room]"
OLD_IMAGE = "[older image omitted]"
UNSEEN = "[image omitted: this model cannot view images]"
LEFT_OUT = "[image left out: the server does not accept it, or the user took it out]"
WHERE = "not enough room for all of it: read again, in parts, what you still need"
SHORTEST = 200
"""Minimum characters that a text keeps."""


def shorten_message(message: Message, most: int) -> Message:
    """Shorten the message to about `most` tokens; return the same object if it fits.

    Signed thinking cannot be cut, so it is dropped whole.
    """
    size = message_tokens(message)
    if size <= most:
        return message
    parts: Iterable[Any] = message.content
    if isinstance(message, AssistantMessage):
        parts = [part for part in parts if not isinstance(part, Thinking)]
    share = most / max(1, size)
    return replace(message, content=tuple(_shorten_part(part, share, most) for part in parts))


def without_pictures(message: Message, placeholder: str = UNSEEN, only: frozenset[str] | None = None) -> Message:
    """Replace images, by default for a model that cannot view them; return the same object if there are none.

    With `only`, replace those in these blobs.
    """
    parts: Iterable[Any] = message.content
    gone = [isinstance(part, Image) and (only is None or part.blob in only) for part in parts]
    if not any(gone):
        return message
    content = tuple(Text(placeholder) if is_gone else part for part, is_gone in zip(parts, gone, strict=True))
    return replace(message, content=content)


def _shorten_part(part: Text | Note | Image | ToolCall, share: float, most: int) -> Text | Note | Image | ToolCall:
    match part:
        case Image():
            return part if most > 2 * IMAGE else Text(NO_PICTURE)
        case ToolCall():
            return replace(
                part, arguments=_shorten_value(part.arguments, share), malformed=_cut_text(part.malformed, share)
            )
        case _:
            return replace(part, text=_cut_text(part.text, share))


def _shorten_value(value: Any, share: float) -> Any:
    match value:
        case str():
            return _cut_text(value, share)
        case dict():
            return {key: _shorten_value(inner, share) for key, inner in value.items()}
        case list():
            return [_shorten_value(inner, share) for inner in value]
    return value


def _cut_text(text: str, share: float) -> str:
    """Cut the text to its share; short texts stay whole."""
    if len(text) <= SHORTEST:
        return text
    # Tokens count, and a letter may be several bytes.
    room = max(SHORTEST, int(len(text) * share * min(1.0, len(text) / (BYTES * estimate_tokens(text)))) - 120)
    missing = len(text) - room
    if missing <= 0:
        return text
    return text[: room - room // 2] + describe_gap(f"{missing:,} characters", WHERE) + text[len(text) - room // 2 :]
