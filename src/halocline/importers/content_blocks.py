"""Content blocks as Anthropic's API has them, which Cline and Claude Code both write down."""

from collections.abc import Iterator

from halocline.importers.transcript import Answer, Ground, rows, table, whole, words
from halocline.protocol.messages import AssistantPart, Image, ResultPart, Text, Thinking, ToolCall, Usage
from halocline.protocol.values import JsonObject


def blocks(content: object) -> list[JsonObject]:
    """The blocks of a message, of which plain words are one."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else rows(content)


def spoken(content: object, ground: Ground) -> Iterator[AssistantPart]:
    """What a model said. Reasoning is kept to be read: a signature is good for its own conversation alone."""
    for block in blocks(content):
        match block.get("type"):
            case "text" if text := words(block.get("text")):
                yield Text(ground.text(text))
            case "thinking" if text := words(block.get("thinking")):
                yield Thinking(ground.text(text))
            case "tool_use":
                name = words(block.get("name")) or "unnamed"
                yield ToolCall(words(block.get("id")), name, ground.arguments(block.get("input")))
            case "text" | "thinking" | "redacted_thinking":
                pass
            case other:
                ground.lost[f"part of a reply of an unknown kind ({str(other)[:40]})"] += 1


def answered(block: JsonObject, at: float, ground: Ground) -> Answer:
    """A tool's result."""
    content = tuple(_given(block.get("content"), ground))
    failed = block.get("is_error") is True
    return Answer(words(block.get("tool_use_id")), content or (Text(""),), at, failed)


def _given(content: object, ground: Ground) -> Iterator[ResultPart]:
    for block in blocks(content):
        match block.get("type"):
            case "image":
                yield picture(block, ground)
            case "text":
                yield Text(ground.text(words(block.get("text"))))
            case _:
                yield Text(ground.text(block))


def picture(block: JsonObject, ground: Ground) -> Image | Text:
    """An image block."""
    source = table(block.get("source"))
    return ground.picture(source.get("media_type"), source.get("data"))


def usage(given: JsonObject) -> Usage:
    """Anthropic's counts."""
    return Usage(
        input=whole(given.get("input_tokens")),
        output=whole(given.get("output_tokens")),
        cache_read=whole(given.get("cache_read_input_tokens")),
        cache_write=whole(given.get("cache_creation_input_tokens")),
    )
