"""Pictures that a person puts into a prompt: pasted, or named by `--image`. What a mention finds is elsewhere."""

from halocline.context.pictures import picture_facts
from halocline.controller.mentioned_files import LONGEST_SIDE
from halocline.protocol.errors import ToolFailure, UsageError
from halocline.protocol.messages import PICTURE, Note, UserPart
from halocline.task.task import Task
from halocline.tools.pictures import described, picture

BLIND = "the model sees no pictures, so it was not shown"


async def attached(name: str, data: bytes, task: Task) -> tuple[UserPart, ...]:
    """The parts of a prompt that are the picture: what it is, and for a model that sees the picture itself.

    Raises:
        UsageError: it is no picture, or too large.
    """
    facts = picture_facts(data)
    if facts is None:
        raise UsageError(f"{name} is not a picture that can be shown.", "PNG, JPEG, GIF and WebP can.")
    if max(facts.width, facts.height) > LONGEST_SIDE:
        size = f"{facts.width:,}×{facts.height:,} pixels, more than {LONGEST_SIDE:,} on a side"
        raise UsageError(f"{name} is too large: {size}.", "Make it smaller.")
    machine = task.machine
    if not machine.takes_images(task.state.model):
        return (Note(f"[{described(name, data, facts)}; {BLIND}]", PICTURE),)
    try:
        said, image = await picture(name, data, facts, machine.documents, machine.blobs)
    except ToolFailure as failure:
        raise UsageError(failure.text, "Make the picture smaller.") from failure
    return (Note(f"[{said}]", PICTURE), image)
