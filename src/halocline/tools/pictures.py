"""Images for a model that a file has."""

from halocline.context.images import picture_facts
from halocline.context.pictures import describe_picture, load_picture
from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.messages import Text


async def show_picture(name: str, data: bytes, ctx: ToolContext) -> ToolOutput:
    """Show a binary file as an image. Raises ToolFailure if it is none, or the model cannot view images."""
    facts = picture_facts(data)
    if facts is None:
        raise ToolFailure(f"{name} is a binary file ({len(data):,} bytes) without readable text.")
    if not ctx.task.takes_images():
        description = describe_picture(name, data, facts)
        raise ToolFailure(f"{description}. This model cannot view images. Continue without seeing it.")
    description, image = await load_picture(name, data, ctx.host.documents, ctx.host.blobs)
    return ToolOutput((Text(f"[{description}]"), image))
