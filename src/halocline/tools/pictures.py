"""Images for a model: small enough for every vendor, and stored as blobs."""

from halocline.context.images import PictureFacts, picture_facts
from halocline.ports.blobs import Blobs
from halocline.ports.documents import Documents
from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import Image, Text

LARGEST_PICTURE = 3_750_000
"""Bytes; 5 MB in base64, the most that every vendor accepts."""
LONGEST_SIDE = 8_000
SMALLER_SIDE = 1_568


def describe_image(name: str, data: bytes, facts: PictureFacts) -> str:
    """`shot.png: image/png, 800×600 pixels, 12,345 bytes`."""
    return f"{name}: {facts.media_type}, {facts.width}×{facts.height} pixels, {len(data):,} bytes"


async def load_image(
    name: str, data: bytes, facts: PictureFacts, documents: Documents, blobs: Blobs
) -> tuple[str, Image]:
    """Return a description and the image. Raises ToolFailure if it cannot be made small enough."""
    description = describe_image(name, data, facts)
    media_type = facts.media_type
    if len(data) > LARGEST_PICTURE or max(facts.width, facts.height) > LONGEST_SIDE:
        try:
            smaller = await documents.smaller(data, SMALLER_SIDE, LARGEST_PICTURE)
        except ToolFailure as failure:
            raise ToolFailure(f"{description}. It is too large to show in full size. {failure.text}") from None
        media_type, data = smaller.media_type, smaller.data
        description += f"; scaled down to at most {SMALLER_SIDE} pixels"
    return description, Image(media_type, blobs.put(data))


async def show_picture(name: str, data: bytes, ctx: ToolContext) -> ToolOutput:
    """Show a binary file as an image. Raises ToolFailure if it is none, or the model cannot view images."""
    facts = picture_facts(data)
    if facts is None:
        raise ToolFailure(f"{name} is a binary file ({len(data):,} bytes) without readable text.")
    if not ctx.task.takes_images():
        description = describe_image(name, data, facts)
        raise ToolFailure(f"{description}. This model cannot view images. Continue without seeing it.")
    description, image = await load_image(name, data, facts, ctx.host.documents, ctx.host.blobs)
    return ToolOutput((Text(f"[{description}]"), image))
