"""What a person puts into a prompt: pictures, pasted or named by `--image`, and files that a surface was handed.

What a mention finds is elsewhere.
"""

from pathlib import PurePath

from halocline.context.budget import MENTIONED_ONCE, bound_text
from halocline.context.images import picture_facts
from halocline.edits.text import BinaryContent, decode_text
from halocline.ports.blobs import Blobs
from halocline.ports.documents import DocumentKind, Documents
from halocline.protocol.errors import ToolFailure, UsageError
from halocline.protocol.messages import PASTED, PICTURE, Note, UserPart
from halocline.runtime.mentions.files import LONGEST_SIDE
from halocline.tools.pictures import describe_image, load_image

BLIND = "the model sees no pictures, so it was not shown"


async def attach_image(
    name: str, data: bytes, documents: Documents, blobs: Blobs, *, sees: bool
) -> tuple[UserPart, ...]:
    """The parts of a prompt that are the picture: what it is, and for a model that `sees` the picture itself.

    Raises:
        UsageError: it is no picture, or too large.
    """
    facts = picture_facts(data)
    if facts is None:
        raise UsageError(f"{name} is not a picture that can be shown.", "PNG, JPEG, GIF and WebP can.")
    if max(facts.width, facts.height) > LONGEST_SIDE:
        size = f"{facts.width:,}×{facts.height:,} pixels, more than {LONGEST_SIDE:,} on a side"
        raise UsageError(f"{name} is too large: {size}.", "Make it smaller.")
    if not sees:
        return (Note(f"[{describe_image(name, data, facts)}; {BLIND}]", PICTURE),)
    try:
        said, image = await load_image(name, data, facts, documents, blobs)
    except ToolFailure as failure:
        raise UsageError(failure.text, "Make the picture smaller.") from failure
    return (Note(f"[{said}]", PICTURE), image)


async def attach_file(
    name: str, data: bytes, documents: Documents, blobs: Blobs, *, sees: bool
) -> tuple[UserPart, ...]:
    """The same of any file that a person gives without a place on this machine: pictures, documents and text.

    Of a long text the head and the tail, with the whole kept. Raises UsageError.
    """
    if picture_facts(data) is not None:
        return await attach_image(name, data, documents, blobs, sees=sees)
    text = await _read_text(name, data, documents)
    said = bound_text(text, MENTIONED_ONCE, blobs.put)
    return (Note(f"[{name}: a file of {len(data):,} bytes that the user gave]\n{said}", PASTED),)


async def _read_text(name: str, data: bytes, documents: Documents) -> str:
    ending = PurePath(name).suffix.lower().removeprefix(".")
    try:
        if ending in tuple(DocumentKind):
            return await documents.text(DocumentKind(ending), data)
        return decode_text(data).text
    except BinaryContent as error:
        raise UsageError(f"{name} has no text to read.", "Text, pictures, PDF, docx, xlsx and ipynb can be.") from error
    except ToolFailure as failure:
        raise UsageError(f"{name} cannot be read: {failure.text}", "Give it as text.") from failure


def read_image(blob: str, blobs: Blobs) -> tuple[str, bytes]:
    """The media type and the bytes of a picture that is kept. Raises UsageError: there is none of that name."""
    try:
        data = blobs.get(blob)
    except KeyError:
        data = b""
    if (facts := picture_facts(data)) is None:
        raise UsageError("There is no such picture.", "It may have been freed: halo storage")
    return facts.media_type, data
