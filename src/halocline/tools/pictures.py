"""A picture made ready to be shown to a model: small enough for every vendor, and kept as a blob."""

from halocline.context.images import PictureFacts
from halocline.ports.blobs import Blobs
from halocline.ports.documents import Documents
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import Image

LARGEST_PICTURE = 3_750_000
"""Bytes; in base64 that is 5 MB, the most that every vendor takes."""
LONGEST_SIDE = 8_000
SMALLER_SIDE = 1_568


def describe_image(name: str, data: bytes, facts: PictureFacts) -> str:
    """`shot.png: image/png, 800×600 pixels, 12,345 bytes`."""
    return f"{name}: {facts.media_type}, {facts.width}×{facts.height} pixels, {len(data):,} bytes"


async def load_image(
    name: str, data: bytes, facts: PictureFacts, documents: Documents, blobs: Blobs
) -> tuple[str, Image]:
    """What it is in words, and the picture. Raises ToolFailure when it cannot be made small enough."""
    said = describe_image(name, data, facts)
    media_type = facts.media_type
    if len(data) > LARGEST_PICTURE or max(facts.width, facts.height) > LONGEST_SIDE:
        try:
            made = await documents.smaller(data, SMALLER_SIDE, LARGEST_PICTURE)
        except ToolFailure as failure:
            raise ToolFailure(f"{said}. It is too large to be shown as it is. {failure.text}") from None
        media_type, data = made.media_type, made.data
        said += f"; made smaller, to {SMALLER_SIDE} pixels at most"
    return said, Image(media_type, blobs.put(data))
