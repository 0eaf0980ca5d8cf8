"""How much of a conversation a model can read, and from where on it is too much.

The sizes are the classic ones: a reserve of 27,000, 30,000 or 40,000 tokens for windows of 64,000, 128,000 and 200,000.
"""

from halocline.context.token_estimate import message_tokens
from halocline.protocol.messages import AssistantMessage
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

UNKNOWN = 128_000
"""Tokens that a model is taken to read when nobody knows."""
RESERVES = {64_000: 27_000, 128_000: 30_000, 200_000: 40_000}


class Room(Value, frozen=True):
    """Tokens: what a model reads at most, and how many of them a request may have before it is shortened."""

    window: int
    allowed: int


def find_room(state: State, at: float | None = None) -> Room:
    """The room in a task's model; `at` is the part of the window that a person lets fill."""
    window = state.window or UNKNOWN
    if state.limit and state.limit < window:
        window = state.limit
    reserve = RESERVES.get(window)
    allowed = window - reserve if reserve else max(window - 40_000, int(window * 0.8))
    return Room(window, min(allowed, int(window * at)) if at else allowed)


def count_used(state: State) -> int:
    """Tokens of the next request: what the provider counted last, and what came since."""
    since = 0
    for message in reversed(state.messages):
        if isinstance(message, AssistantMessage):
            break
        since += message_tokens(message)
    return state.last_usage.total + since
