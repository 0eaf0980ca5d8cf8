"""Prompts of an ACP client as parts of a message: text, images, files that the person attached."""

import base64
import binascii
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp import schema

from halocline.client import format_mention
from halocline.protocol.messages import PASTED, Note, Text, UserPart
from halocline.surfaces.acp.failures import refuse_params

Block = (
    schema.TextContentBlock
    | schema.ImageContentBlock
    | schema.AudioContentBlock
    | schema.ResourceContentBlock
    | schema.EmbeddedResourceContentBlock
)
Attach = Callable[[str, bytes], Awaitable[tuple[UserPart, ...]]]


async def read_prompt(blocks: Sequence[Block], workspace: Path, attach: Attach) -> tuple[UserPart, ...]:
    """Return the parts of a prompt: its text as one part, then what came with it. `attach` stores an image.

    A linked file becomes a mention, which is read as one that the person typed. Raises RequestError and UsageError.
    """
    texts: list[str] = []
    others: list[UserPart] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock(text=text):
                texts.append(text)
            case schema.ResourceContentBlock(uri=uri, name=name):
                texts.append(_mention_link(uri, name, workspace))
            case schema.ImageContentBlock():
                others += await attach(block.uri or "image", _read_base64(block.data))
            case schema.EmbeddedResourceContentBlock(resource=schema.TextResourceContents() as resource):
                texts.append(_mention_name(resource.uri, workspace))
                others.append(Note(f"{resource.uri}\n{resource.text}", PASTED))
            case schema.EmbeddedResourceContentBlock(resource=schema.BlobResourceContents() as resource):
                if not (resource.mime_type or "").startswith("image/"):
                    raise refuse_params(f"{resource.uri} is neither text nor an image.")
                others += await attach(resource.uri, _read_base64(resource.blob))
            case _:
                raise refuse_params("Audio is not supported. Send text.")
    return (Text("".join(texts).strip()), *others)


def _mention_link(uri: str, name: str, workspace: Path) -> str:
    """Return a linked file as a mention, and any other link as it is."""
    path = _path_of(uri, workspace)
    return f" {format_mention(path)} " if path else f" {name} ({uri}) "


def _mention_name(uri: str, workspace: Path) -> str:
    """Return the name under which the text speaks of an embedded file. Its content follows, so it is no mention."""
    return f" `{_path_of(uri, workspace) or uri}` "


def _path_of(uri: str, workspace: Path) -> str:
    """Return the path of a file URI, relative if it is in the workspace; empty for other URIs."""
    found = urlsplit(uri)
    if found.scheme != "file" or found.netloc not in ("", "localhost"):
        return ""
    path = Path(unquote(found.path))
    return str(path.relative_to(workspace)) if path.is_relative_to(workspace) else str(path)


def _read_base64(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise refuse_params(f"The image is not valid base64: {error}") from error
