"""The first prompt of a task that continues another one's work."""

from halocline.context.user_files.mentions import escape_mentions
from halocline.protocol.events import HandedOver

HANDED_OVER = "{context}\n\n(Handed over by task {task}.)"


def format_handover(event: HandedOver) -> str:
    """Return the prompt. A model wrote the context, so it mentions nothing."""
    return HANDED_OVER.format(context=escape_mentions(event.context), task=event.task)
