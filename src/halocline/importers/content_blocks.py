"""Content blocks in the format of Anthropic's API, used by both Cline and Claude Code."""

from collections.abc import Iterator

from halocline.importers.transcript import Answer, Ground, as_rows, as_table, as_text, whole_number
from halocline.protocol.messages import AssistantPart, Image, ResultPart, Text, Thinking, ToolCall, Usage
from halocline.protocol.values import JsonObject


def list_blocks(content: object) -> list[JsonObject]:
    """Return the blocks of a message; a plain string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else as_rows(content)


def reply_parts(content: object, ground: Ground) -> Iterator[AssistantPart]:
    """Yield the parts of a reply. Reasoning is kept without its signature, which is valid only in its conversation."""
    for block in list_blocks(content):
        match block.get("type"):
            case "text" if text := as_text(block.get("text")):
                yield Text(ground.text(text))
            case "thinking" if text := as_text(block.get("thinking")):
                yield Thinking(ground.text(text))
            case "tool_use":
                name = as_text(block.get("name")) or "unnamed"
                yield ToolCall(as_text(block.get("id")), name, ground.arguments(block.get("input")))
            case "text" | "thinking" | "redacted_thinking":
                pass
            case other:
                ground.lost[f"reply part of unknown type ({str(other)[:40]})"] += 1


def tool_answer(block: JsonObject, at: float, ground: Ground) -> Answer:
    """Convert a tool's result."""
    content = tuple(_result_parts(block.get("content"), ground))
    failed = block.get("is_error") is True
    return Answer(as_text(block.get("tool_use_id")), content or (Text(""),), at, failed)


def _result_parts(content: object, ground: Ground) -> Iterator[ResultPart]:
    for block in list_blocks(content):
        match block.get("type"):
            case "image":
                yield read_image(block, ground)
            case "text":
                yield Text(ground.text(as_text(block.get("text"))))
            case _:
                yield Text(ground.text(block))


def read_image(block: JsonObject, ground: Ground) -> Image | Text:
    """Convert an image block."""
    source = as_table(block.get("source"))
    return ground.picture(source.get("media_type"), source.get("data"))


def read_usage(given: JsonObject) -> Usage:
    """Convert Anthropic's token counts."""
    return Usage(
        input=whole_number(given.get("input_tokens")),
        output=whole_number(given.get("output_tokens")),
        cache_read=whole_number(given.get("cache_read_input_tokens")),
        cache_write=whole_number(given.get("cache_creation_input_tokens")),
    )
