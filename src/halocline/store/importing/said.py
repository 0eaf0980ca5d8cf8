"""What a conversation elsewhere says, in no tool's words: each reader gives these, `making` makes events of them.

Also the shapes that several tools share. Whatever is not as expected is passed over, never an error.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from halocline.protocol.messages import AssistantPart, Text, Thinking, ToolCall, Usage
from halocline.protocol.redaction import redacted
from halocline.protocol.values import JsonObject, Value

LONGEST = 200_000
"""Characters of one text that are taken over; of a longer one its two ends."""


LATEST = 4e9
"""Seconds beyond which a time is none."""
LARGEST = 2**53
"""Whole numbers beyond it are no counts, and no log can hold much larger ones."""


class Prompted(Value, frozen=True):
    at: float
    text: str


class Spoke(Value, frozen=True):
    """Part of a reply; neighbours with the same `reply` are one. A later `usage` of it stands for an earlier one."""

    at: float
    reply: str
    parts: tuple[AssistantPart, ...] = ()
    model: str = ""
    usage: Usage | None = None
    cost: float | None = None


class Heard(Value, frozen=True):
    at: float
    call: str
    text: str
    is_error: bool = False


class Unread(Value, frozen=True):
    """Something that could not be read."""

    text: str


Beat = Prompted | Spoke | Heard | Unread


def safe(text: object) -> str:
    """A text as it may stand in a log: not endless, without what has the form of a key."""
    words = text if isinstance(text, str) else ""
    if len(words) > LONGEST:
        gone = len(words) - LONGEST
        words = f"{words[: LONGEST // 2]}\n[{gone} characters were left out on import]\n{words[-LONGEST // 2 :]}"
    return redacted(words)


def safe_object(value: object) -> JsonObject:
    """Arguments of a call, with every text in them made safe."""
    return {str(key): _safe(item) for key, item in value.items()} if isinstance(value, dict) else {}


def _safe(value: Any) -> Any:
    match value:
        case str():
            return safe(value)
        case dict():
            return safe_object(value)
        case list():
            return [_safe(item) for item in value]
        case int() if abs(value) > LARGEST:
            return hex(value)
    return value


def moment(value: object) -> float:
    """A time as tools write it (ISO, or milliseconds) in seconds; 0 when it is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value / 1000 if 0 < value < LATEST * 1000 else 0.0
    try:
        return datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp() if isinstance(value, str) else 0.0
    except (ValueError, OverflowError):
        return 0.0


def number(values: JsonObject, name: str) -> int:
    """A count of tokens; 0 when there is none."""
    found = values.get(name)
    return found if isinstance(found, int) and 0 < found < LARGEST else 0


def objects(value: object) -> Iterator[JsonObject]:
    """The JSON objects in a list."""
    yield from (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


def lines(source: Iterable[bytes]) -> Iterator[JsonObject | Unread]:
    """JSON lines, one at a time."""
    for count, line in enumerate(source, 1):
        if not line.strip():
            continue
        try:
            found = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            found = None
        yield found if isinstance(found, dict) else Unread(f"line {count}")


def words(content: object) -> str:
    """The text of a message's blocks, or of a message that is one text. Pictures and files are only named."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, map(_word, objects(content))))


def _word(block: JsonObject) -> str:
    text = block.get("text")
    if isinstance(text, str):
        return text
    kind = block.get("type")
    return f"[{kind}, not imported]" if kind in ("image", "input_image", "document", "file") else ""


def spoken(block: JsonObject) -> AssistantPart | None:
    """A block of a reply, as Anthropic's API has it; reasoning loses its signature, which holds for nobody else."""
    match block:
        case {"type": "text", "text": str(text)} if text.strip():
            return Text(safe(text))
        case {"type": "thinking", "thinking": str(text)} if text.strip():
            return Thinking(safe(text))
        case {"type": "tool_use", "id": str(call), "name": str(name)} if call and name:
            return ToolCall(id=call, name=name, arguments=safe_object(block.get("input")))
    return None


def heard(block: JsonObject, at: float) -> Heard | None:
    """A block that holds a call's result, as Anthropic's API has it."""
    match block:
        case {"type": "tool_result", "tool_use_id": str(call)}:
            return Heard(at, call, safe(words(block.get("content"))), block.get("is_error") is True)
    return None
