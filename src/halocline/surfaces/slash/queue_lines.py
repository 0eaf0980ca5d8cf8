"""Lines about the messages that wait in a task, for terminals."""

from collections.abc import Sequence

from halocline.protocol.state.message_queue import QueuedMessage
from halocline.surfaces.sanitize import clean

MOST = 4
"""Most messages that are shown."""
HELD, QUEUED, STEERING = "Enter sends it, ↑ edits it", "queued", "sent before the next step"


def list_queue_lines(messages: Sequence[QueuedMessage], *, held: str = HELD) -> list[str]:
    """Return a line for each message; `held` says how to send or edit one that waits for the person."""
    lines = [_describe_message(message, held) for message in messages]
    return lines[:MOST] + ([f"… {len(lines) - MOST} more"] if len(lines) > MOST else [])


def _describe_message(message: QueuedMessage, held: str) -> str:
    if message.steers:
        return f"↳ {shorten_message(message)} · {STEERING}"
    return f"❯ {shorten_message(message)} · {held if message.is_held else describe_wait(message) or QUEUED}"


def describe_wait(message: QueuedMessage) -> str:
    """Name the tasks that a message waits for; empty if there are none."""
    return f"after {', '.join(message.after)}" if message.after else ""


def shorten_message(message: QueuedMessage) -> str:
    """Return the words of a message in one line."""
    return " ".join(clean(message.text).split()) or "an image"
