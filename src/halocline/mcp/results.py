"""A server's answers as our values: tools, prompts, resources, progress, and results as message parts.

In results, text is bounded, images become blobs, and everything else is named.
"""

import base64
from collections.abc import Iterator, Sequence
from typing import Any

import mcp_types as types
import msgspec

from halocline.context.budget import bound_text
from halocline.context.pictures import keep_picture
from halocline.context.tool_schemas import normalize_schema
from halocline.mcp.tool_names import LONGEST_DESCRIPTION, digest_tool, name_for, plain_text
from halocline.ports.blobs import Blobs
from halocline.ports.mcp import McpPrompt, PromptArgument
from halocline.ports.tool import LONGEST_EVERYWHERE
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.mcp import McpTool
from halocline.protocol.messages import ResultPart, Text
from halocline.protocol.terminal_text import plain_output as visible

MOST = 100_000
"""Characters of one text in a result; longer text keeps its head and tail and says where the whole is."""
MOST_PARTS = 50
NOTHING = "(No response)"


def result_parts(content: Sequence[types.ContentBlock], structured: object, blobs: Blobs) -> tuple[ResultPart, ...]:
    """Convert a tool result for the model. Structured content is used only when there is no text."""
    found = [part for block in content[:MOST_PARTS] for part in _convert_block(block, blobs)]
    if len(content) > MOST_PARTS:
        found.append(Text(f"[{len(content) - MOST_PARTS:,} more parts omitted]"))
    if structured is not None and not any(isinstance(part, Text) and part.text for part in found):
        found.append(_plain_part(msgspec.json.encode(structured).decode(), blobs))
    return tuple(found) or (Text(NOTHING),)


def resource_parts(
    contents: Sequence[types.TextResourceContents | types.BlobResourceContents], blobs: Blobs
) -> tuple[ResultPart, ...]:
    """Convert a resource for the model."""
    return tuple(part for each in contents[:MOST_PARTS] for part in _convert_resource(each, blobs)) or (Text(NOTHING),)


def _convert_block(block: types.ContentBlock, blobs: Blobs) -> Iterator[ResultPart]:
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
    resource: types.TextResourceContents | types.BlobResourceContents, blobs: Blobs
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
        data = decode_base64(encoded)
        if media_type.lower().startswith("image/"):
            yield keep_picture(data, blobs.put)
            return
    except ValueError:
        yield Text(f"[{plain_text(what, 500)}: invalid base64]")
        return
    except ToolFailure as failure:
        what = f"{what} that cannot be shown, as {failure.text}"
    reference = blobs.put(data)
    yield Text(f"[{plain_text(what, 500)}, {plain_text(media_type, 100)}, {len(data):,} bytes, saved as {reference}]")


def decode_base64(encoded: str) -> bytes:
    """Decode data that may be in lines, without its padding or behind a URL's head. Raises ValueError."""
    plain = "".join(encoded.rpartition(";base64,")[2].split())
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def _plain_part(text: str, blobs: Blobs) -> Text:
    """Strip terminal control sequences: no server may write to our terminal."""
    return Text(bound_text(visible(text), MOST, blobs.put))


def tool_of(server: str, tool: types.Tool) -> McpTool:
    """Convert one of a server's tools."""
    hints = tool.annotations
    read_only = bool(hints and hints.read_only_hint and not hints.destructive_hint)
    schema = dict(tool.input_schema)
    normal = normalize_schema(schema)
    # A sentence of ours must stay whole behind a description, the server's name before it, for every vendor.
    most = LONGEST_EVERYWHERE - len(f"[{server}] \n{normal.said}") if normal.said else LONGEST_DESCRIPTION
    words = plain_text(tool.description or tool.title or "", max(0, most))
    return McpTool(
        name=name_for(server, tool.name),
        server=server,
        tool=tool.name,
        description=f"{words}\n{normal.said}".strip(),
        schema=normal.schema,
        renamed=normal.renamed,
        read_only=read_only,
        digest=digest_tool(tool.name, tool.description, schema, hints.model_dump(mode="json") if hints else None),
    )


def prompt_of(server: str, prompt: types.Prompt) -> McpPrompt:
    """Convert one of a server's prompts."""
    arguments = [
        PromptArgument(plain_text(each.name, 100), plain_text(each.description or "", 300), bool(each.required))
        for each in prompt.arguments or ()
    ]
    return McpPrompt(server, prompt.name, plain_text(prompt.description or prompt.title or "", 300), tuple(arguments))


def describe_resource(each: Any) -> str:
    """Describe a resource or resource template in one line."""
    uri = getattr(each, "uri", None) or getattr(each, "uri_template", "")
    words = plain_text(" ".join(filter(None, (each.title or each.name, each.description))), 200)
    return f"{plain_text(str(uri), 1_000)}  {' '.join(words.split())}"


def describe_progress(done: float, total: float | None, message: str | None) -> str:
    """Describe a call's progress in one line."""
    counted = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{counted} {plain_text(message or '', 300)}".rstrip()
