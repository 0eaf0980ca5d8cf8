"""A server's results as message parts: text is bounded, images become blobs, everything else is named."""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from halocline.context.budget import bound_text
from halocline.context.pictures import keep_picture
from halocline.mcp.tool_names import plain_text
from halocline.ports.blobs import Blobs
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import ResultPart, Text
from halocline.protocol.terminal_text import plain_output as visible

if TYPE_CHECKING:
    import mcp_types as types

MOST = 100_000
"""Characters of one text in a result; longer text keeps its head and tail and says where the whole is."""
MOST_PARTS = 50
NOTHING = "(No response)"
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def result_parts(content: "Sequence[types.ContentBlock]", structured: object, blobs: Blobs) -> tuple[ResultPart, ...]:
    """Convert a tool result for the model. Structured content is used only when there is no text."""
    found = [part for block in content[:MOST_PARTS] for part in _convert_block(block, blobs)]
    if len(content) > MOST_PARTS:
        found.append(Text(f"[{len(content) - MOST_PARTS:,} more parts omitted]"))
    if structured is not None and not any(isinstance(part, Text) for part in found):
        found.append(_plain_part(msgspec.json.encode(structured).decode(), blobs))
    return tuple(found) or (Text(NOTHING),)


def resource_parts(
    contents: "Sequence[types.TextResourceContents | types.BlobResourceContents]", blobs: Blobs
) -> tuple[ResultPart, ...]:
    """Convert a resource for the model."""
    return tuple(part for each in contents[:MOST_PARTS] for part in _convert_resource(each, blobs)) or (Text(NOTHING),)


def _convert_block(block: "types.ContentBlock", blobs: Blobs) -> Iterator[ResultPart]:
    match block.type:
        case "text":
            yield _plain_part(block.text, blobs)
        case "image":
            yield from _convert_data(block.data, block.mime_type, "image", blobs)
        case "audio":
            yield from _convert_data(block.data, block.mime_type, "audio", blobs)
        case "resource":
            yield from _convert_resource(block.resource, blobs)
        case "resource_link":
            yield Text(
                f"[resource {plain_text(str(block.uri), 2_000)}: {plain_text(block.description or block.name, 500)}]"
            )


def _convert_resource(
    resource: "types.TextResourceContents | types.BlobResourceContents", blobs: Blobs
) -> Iterator[ResultPart]:
    head = f"[resource {plain_text(str(resource.uri), 2_000)}]\n"
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        yield _plain_part(head + text, blobs)
    else:
        yield from _convert_data(
            getattr(resource, "blob", ""), resource.mime_type or "unknown type", f"resource {resource.uri}", blobs
        )


def _convert_data(encoded: str, media_type: str, what: str, blobs: Blobs) -> Iterator[ResultPart]:
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        yield Text(f"[{plain_text(what, 500)}: invalid base64]")
        return
    if media_type in PICTURES:
        try:
            yield keep_picture(data, blobs.put)
            return
        except ToolFailure as failure:
            what = f"{what} that cannot be shown, as {failure.text}"
    reference = blobs.put(data)
    yield Text(f"[{plain_text(what, 500)}, {plain_text(media_type, 100)}, {len(data):,} bytes, saved as {reference}]")


def _plain_part(text: str, blobs: Blobs) -> Text:
    """Strip terminal control sequences: no server may write to our terminal."""
    return Text(bound_text(visible(text), MOST, blobs.put))
