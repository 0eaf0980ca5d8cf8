"""Messages made shorter, when a model could not read them whole: head and tail stay, and what is missing is said.

The last resort of the context: whatever else is left out, a message keeps its place, its calls and their ids.
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from halocline.context.budget import describe_gap
from halocline.context.token_estimate import BYTES, IMAGE, estimate_tokens, message_tokens
from halocline.protocol.messages import AssistantMessage, Image, Message, Note, Text, Thinking, ToolCall

NO_PICTURE = "[a picture is left out here: there is no room for it]"
UNSEEN = "[a picture is left out here: you cannot see pictures]"
WHERE = "there is no room for all of it: what you need again, read again in parts"
SHORTEST = 200
"""Characters that a text keeps, however little room there is."""


def shorten_message(message: Message, most: int) -> Message:
    """The message with at most about so many tokens; the same object when it has no more.

    Signed thinking cannot be cut, so it goes as a whole.
    """
    size = message_tokens(message)
    if size <= most:
        return message
    parts: Iterable[Any] = message.content
    if isinstance(message, AssistantMessage):
        parts = [part for part in parts if not isinstance(part, Thinking)]
    share = most / max(1, size)
    return replace(message, content=tuple(_shorten_part(part, share, most) for part in parts))


def without_pictures(message: Message) -> Message:
    """The message for a model that sees none; the same object when it has none."""
    parts: Iterable[Any] = message.content
    if not any(isinstance(part, Image) for part in parts):
        return message
    return replace(message, content=tuple(Text(UNSEEN) if isinstance(part, Image) else part for part in parts))


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
    """The text's share of what it was; short ones stay whole."""
    if len(text) <= SHORTEST:
        return text
    # A letter may be more than a byte: what counts are tokens.
    room = max(SHORTEST, int(len(text) * share * min(1.0, len(text) / (BYTES * estimate_tokens(text)))) - 120)
    missing = len(text) - room
    if missing <= 0:
        return text
    return text[: room - room // 2] + describe_gap(f"{missing:,} characters are", WHERE) + text[len(text) - room // 2 :]
