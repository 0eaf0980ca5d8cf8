"""Prompts of an ACP client as parts of a message: text, images, files that the person attached."""

import base64
import binascii
import os
import re
from collections.abc import Awaitable, Callable, Container, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp import schema

from halocline.client.diffs import BinaryContent, decode_text
from halocline.client.mentions import find_mentions, format_mention
from halocline.protocol.messages import PASTED, Note, Text, UserPart
from halocline.surfaces.acp.failures import refuse_params

Block = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)
Resource = schema.TextResourceContents | schema.BlobResourceContents
_NOT_TEXT = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/vnd.")
_MARKS_OF_BYTES = ("\0", "\N{REPLACEMENT CHARACTER}")
_LINES = re.compile(r"L?(?P<first>\d{1,7})(?:,\d+)?(?:[-:]L?(?P<last>\d{1,7})(?:,\d+)?)?")
Attach = Callable[[str, bytes], Awaitable[tuple[UserPart, ...]]]


async def read_prompt(blocks: Sequence[Block], workspace: Path, attach: Attach) -> tuple[UserPart, ...]:
    """Return the parts of a prompt: its text as one part, then what came with it. `attach` stores an image.

    A linked file becomes a mention, which is read as one that the person typed. Raises UsageError, and RequestError,
    also for a prompt with nothing in it.
    """
    typed = "".join(block.text for block in blocks if isinstance(block, schema.TextContentBlock))
    mentioned = {mention.target for mention in find_mentions(typed) if mention.first is None}
    texts: list[str] = []
    others: list[UserPart] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock(text=text):
                texts.append(text)
            case schema.ResourceContentBlock(uri=uri, name=name):
                texts.append(_mention_link(uri, name, workspace, mentioned))
            case schema.ImageContentBlock():
                others += await attach(name := block.uri or "image", _read_base64(block.data, name))
            case schema.EmbeddedResourceContentBlock(resource=resource):
                text, parts = await _read_embedded(resource, workspace, mentioned, attach)
                texts.append(text)
                others += parts
            case _:
                raise refuse_params("Audio is not supported. Send text.")
    text = "".join(texts).strip()
    if not (text or others):
        raise refuse_params("The prompt is empty. Send text, an image or a file.")
    return (*([Text(text)] if text else []), *others)


async def _read_embedded(
    resource: Resource, workspace: Path, mentioned: Container[str], attach: Attach
) -> tuple[str, tuple[UserPart, ...]]:
    """Return an embedded file as text of the prompt and as parts.

    One that the text mentions comes with the mention. One that is neither text nor an image becomes a mention: some
    clients embed the bytes of every file as text. What cannot be read of it is said when the mention is read.
    """
    uri, path = resource.uri, _path_of(resource.uri, workspace)
    if path and _is_mentioned(path, workspace, mentioned):
        return "", ()
    if isinstance(resource, schema.BlobResourceContents) and _is_image(resource):
        return "", await attach(uri, _read_base64(resource.blob, uri))
    if (text := _read_text(resource)) is not None:
        return f" `{path}{_lines_of(uri)}` " if path else f" `{uri}` ", (Note(f"{uri}\n{text}", PASTED),)
    if not path:
        raise refuse_params(f"{uri} is neither text nor an image. Leave it out.")
    return f" {_mention_file(path, workspace)} ", ()


def _is_mentioned(path: str, workspace: Path, mentioned: Container[str]) -> bool:
    return path in mentioned or str(workspace / path) in mentioned


def _read_text(resource: Resource) -> str | None:
    """Return the text of an embedded file; None if it is none, but the bytes of another file."""
    kind = resource.mime_type or ""
    if kind.startswith(_NOT_TEXT) and not kind.endswith(("+xml", "+json")):
        return None
    if isinstance(resource, schema.TextResourceContents):
        return None if any(mark in resource.text for mark in _MARKS_OF_BYTES) else resource.text
    try:
        return decode_text(_read_base64(resource.blob, resource.uri)).text
    except BinaryContent:
        return None


def _is_image(resource: schema.BlobResourceContents) -> bool:
    kind = resource.mime_type or ""
    return kind.startswith("image/") and not kind.endswith("+xml")


def _mention_link(uri: str, name: str, workspace: Path, mentioned: Container[str]) -> str:
    """Return a linked file as a mention that the text does not have yet, and any other link as it is."""
    path = _path_of(uri, workspace)
    if not path:
        return f" {name} ({uri}) "
    return "" if _is_mentioned(path, workspace, mentioned) else f" {_mention_file(path, workspace, _lines_of(uri))} "


def _mention_file(path: str, workspace: Path, lines: str = "") -> str:
    """Return a mention of a file, or of lines of it. Quotes show that a path is meant, though it is missing."""
    mention = format_mention(path)
    is_plain = mention[1] != '"' and os.path.lexists(workspace / path)
    return f"{mention}{lines}" if is_plain or '"' in path else f'@"{path}"{lines}'


def _path_of(uri: str, workspace: Path) -> str:
    """Return the path of a file URI, relative if it is in the workspace; empty for other URIs."""
    found = urlsplit(uri)
    if found.scheme != "file" or found.netloc not in ("", "localhost"):
        return ""
    path = Path(unquote(found.path))
    return str(path.relative_to(workspace)) if path.is_relative_to(workspace) else str(path)


def _lines_of(uri: str) -> str:
    """Return the lines that a URI's fragment names, as a mention does: `:2-3` for `#L2:3`, `#L2-L3` or `#L2,1-L3,9`."""
    found = _LINES.fullmatch(urlsplit(uri).fragment)
    if not found:
        return ""
    return f":{found['first']}-{found['last']}" if found["last"] else f":{found['first']}"


def _read_base64(data: str, name: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise refuse_params(f"The data of {name} is not valid base64: {error}") from error
