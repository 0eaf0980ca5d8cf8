"""What a server answered, as parts of a message: texts bounded, pictures kept as blobs, everything else named."""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from halocline.context.budget import bounded
from halocline.mcp.tool_names import plain
from halocline.ports.blobs import Blobs
from halocline.protocol.messages import Image, ResultPart, Text
from halocline.protocol.terminal_text import plain as visible

if TYPE_CHECKING:
    import mcp_types as types

MOST = 100_000
"""Characters of one text of a result; of a longer one the head and the tail, and where the whole is."""
MOST_PARTS = 50
NOTHING = "(No response)"
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def parts(content: "Sequence[types.ContentBlock]", structured: object, blobs: Blobs) -> tuple[ResultPart, ...]:
    """What the model reads of a result. Structured content is told when there are no words."""
    found = [part for block in content[:MOST_PARTS] for part in _parts(block, blobs)]
    if len(content) > MOST_PARTS:
        found.append(Text(f"[{len(content) - MOST_PARTS:,} more parts are left out]"))
    if structured is not None and not any(isinstance(part, Text) for part in found):
        found.append(_text(msgspec.json.encode(structured).decode(), blobs))
    return tuple(found) or (Text(NOTHING),)


def resource_parts(
    contents: "Sequence[types.TextResourceContents | types.BlobResourceContents]", blobs: Blobs
) -> tuple[ResultPart, ...]:
    """What the model reads of a resource."""
    return tuple(part for each in contents[:MOST_PARTS] for part in _resource(each, blobs)) or (Text(NOTHING),)


def _parts(block: "types.ContentBlock", blobs: Blobs) -> Iterator[ResultPart]:
    match block.type:
        case "text":
            yield _text(block.text, blobs)
        case "image":
            yield from _data(block.data, block.mime_type, "picture", blobs)
        case "audio":
            yield from _data(block.data, block.mime_type, "sound", blobs)
        case "resource":
            yield from _resource(block.resource, blobs)
        case "resource_link":
            yield Text(f"[resource {plain(str(block.uri), 2_000)}: {plain(block.description or block.name, 500)}]")


def _resource(
    resource: "types.TextResourceContents | types.BlobResourceContents", blobs: Blobs
) -> Iterator[ResultPart]:
    head = f"[resource {plain(str(resource.uri), 2_000)}]\n"
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        yield _text(head + text, blobs)
    else:
        yield from _data(getattr(resource, "blob", ""), resource.mime_type or "", f"resource {resource.uri}", blobs)


def _data(encoded: str, media_type: str, what: str, blobs: Blobs) -> Iterator[ResultPart]:
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        yield Text(f"[a {what} that is not written as base64]")
        return
    reference = blobs.put(data)
    if media_type in PICTURES:
        yield Image(media_type, reference)
    else:
        yield Text(f"[a {plain(what, 500)}, {plain(media_type, 100)}, {len(data):,} bytes, kept as {reference}]")


def _text(text: str, blobs: Blobs) -> Text:
    """Without what a terminal would obey: no server has a terminal of ours to write on."""
    return Text(bounded(visible(text), MOST, blobs.put))
