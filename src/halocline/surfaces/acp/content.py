"""Blocks of text and images as ACP shows them, in messages and in tool calls."""

import base64
from collections.abc import Callable

from acp import schema

from halocline.protocol.messages import PASTED, Image, Note, ResultPart, Text, UserPart
from halocline.surfaces.figures import describe_compaction
from halocline.surfaces.rows.kinds import CompactionRow

ToolContent = schema.ContentToolCallContent | schema.FileEditToolCallContent | schema.TerminalToolCallContent
Block = schema.TextContentBlock | schema.ImageContentBlock | schema.EmbeddedResourceContentBlock
ReadImage = Callable[[str], tuple[str, bytes] | None]
"""Returns the media type and the data of an image by its reference; None if it is gone."""


def make_message(text: str) -> schema.AgentMessageChunk:
    """Return text for the person."""
    return schema.AgentMessageChunk(content=make_text(text), session_update="agent_message_chunk")


def make_thought(text: str) -> schema.AgentThoughtChunk:
    """Return text that a client may fold away."""
    return schema.AgentThoughtChunk(content=make_text(text), session_update="agent_thought_chunk")


def make_compaction(row: CompactionRow) -> schema.AgentThoughtChunk:
    """Return a line on the conversation, which was compacted or restored."""
    return make_thought(f"The conversation: {describe_compaction(row)}.\n")


def make_block(text: str, language: str) -> str:
    """Return text in a code block whose fence is longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def make_content(text: str, language: str) -> schema.ContentToolCallContent:
    return schema.ContentToolCallContent(content=make_text(make_block(text, language)), type="content")


def make_text(text: str) -> schema.TextContentBlock:
    return schema.TextContentBlock(text=text, type="text")


def list_prompt_blocks(content: tuple[UserPart, ...], read_image: ReadImage) -> list[Block]:
    """Return what a person sent: text, images, and files whose text came along."""
    blocks: list[Block] = []
    for part in content:
        match part:
            case Text(text=text) if text:
                blocks.append(make_text(text))
            case Image(blob=blob) if image := _make_image(blob, read_image):
                blocks.append(image)
            case Note(text=text, source=source) if source == PASTED and "://" in (uri := text.partition("\n")[0]):
                resource = schema.TextResourceContents(uri=uri, text=text.partition("\n")[2])
                blocks.append(schema.EmbeddedResourceContentBlock(resource=resource, type="resource"))
    return blocks


def list_result_content(text: str, parts: tuple[ResultPart, ...], read_image: ReadImage) -> list[ToolContent]:
    """Return the content of a tool's result: its text, then its images."""
    images = [_make_image(part.blob, read_image) for part in parts if isinstance(part, Image)]
    shown: list[ToolContent] = [make_content(text, "text")] if text else []
    return [*shown, *(schema.ContentToolCallContent(content=one, type="content") for one in images if one)]


def _make_image(blob: str, read_image: ReadImage) -> schema.ImageContentBlock | None:
    if (found := read_image(blob)) is None:
        return None
    media_type, data = found
    return schema.ImageContentBlock(data=base64.b64encode(data).decode(), mime_type=media_type, type="image")
