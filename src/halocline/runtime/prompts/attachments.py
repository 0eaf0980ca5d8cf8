"""Attach images (pasted, or named by `--image`) and uploaded files to a prompt. Mentions are resolved elsewhere.

The log keeps an image whether or not the model sees it, which may change; a request leaves out what it does not see.
"""

from pathlib import PurePath

from halocline.context.budget import MENTIONED_ONCE, bound_text
from halocline.context.images import picture_facts
from halocline.context.pictures import load_picture
from halocline.edits.text import BinaryContent, decode_text
from halocline.ports.blobs import Blobs
from halocline.ports.documents import DocumentKind, Documents
from halocline.protocol.errors import ToolFailure, UsageError
from halocline.protocol.messages import PASTED, PICTURE, Note, UserPart
from halocline.runtime.mentions.files import LONGEST_SIDE


async def attach_image(name: str, data: bytes, documents: Documents, blobs: Blobs) -> tuple[UserPart, ...]:
    """Return the prompt parts for an image: a description, and the image itself.

    Raises:
        UsageError: it is not an image, or too large.
    """
    facts = picture_facts(data)
    if facts is None:
        raise UsageError(f"{name} is not a supported image.", "Use PNG, JPEG, GIF or WebP.")
    if max(facts.width, facts.height) > LONGEST_SIDE:
        size = f"{facts.width:,}×{facts.height:,} pixels; the limit is {LONGEST_SIDE:,} per side"
        raise UsageError(f"{name} is too large: {size}.", "Make it smaller.")
    try:
        text, image = await load_picture(name, data, documents, blobs)
    except ToolFailure as failure:
        raise UsageError(failure.text, "Save it again as PNG or JPEG, and smaller if it is large.") from failure
    return (Note(f"[{text}]", PICTURE), image)


async def attach_file(name: str, data: bytes, documents: Documents, blobs: Blobs) -> tuple[UserPart, ...]:
    """Return the prompt parts for an uploaded file: an image, a document or text.

    A long text is cut in the middle and stored whole. Raises UsageError.
    """
    if picture_facts(data) is not None:
        return await attach_image(name, data, documents, blobs)
    text = await _read_text(name, data, documents)
    shown = bound_text(text, MENTIONED_ONCE, blobs.put)
    return (Note(f"[{name}: a file of {len(data):,} bytes from the user]\n{shown}", PASTED),)


async def _read_text(name: str, data: bytes, documents: Documents) -> str:
    ending = PurePath(name).suffix.lower().removeprefix(".")
    try:
        if ending in tuple(DocumentKind):
            return await documents.text(DocumentKind(ending), data)
        return decode_text(data).text
    except BinaryContent as error:
        raise UsageError(
            f"{name} has no readable text.", "Attach text, an image, or a PDF, docx, xlsx or ipynb file."
        ) from error
    except ToolFailure as failure:
        raise UsageError(f"Cannot read {name}: {failure.text}", "Attach it as text.") from failure


def read_image(blob: str, blobs: Blobs) -> tuple[str, bytes]:
    """Return the media type and bytes of a stored image. Raises UsageError if there is none."""
    try:
        data = blobs.get(blob)
    except KeyError:
        data = b""
    if (facts := picture_facts(data)) is None:
        raise UsageError("This image is no longer stored.", "It may have been removed by halo storage prune.")
    return facts.media_type, data
