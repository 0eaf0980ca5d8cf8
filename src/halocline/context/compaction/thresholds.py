"""The context window of a model, and the size at which a conversation is compacted.

The reserves are Cline's: 27,000, 30,000 or 40,000 tokens for windows of 64,000, 128,000 and 200,000.
"""

from halocline.context.token_estimate import message_tokens
from halocline.protocol.messages import AssistantMessage
from halocline.protocol.state.state import State
from halocline.protocol.values import Value

UNKNOWN = 128_000
"""Context window, in tokens, of a model whose window is unknown."""
RESERVES = {64_000: 27_000, 128_000: 30_000, 200_000: 40_000}


class Room(Value, frozen=True):
    """Tokens: the context window, and how many of them a request may use before it is compacted."""

    window: int
    allowed: int


def find_room(state: State, at: float | None = None) -> Room:
    """Return the room in a task's model; `at` is the share of the window that may fill up."""
    window = state.model.window or UNKNOWN
    if state.model.limit and state.model.limit < window:
        window = state.model.limit
    reserve = RESERVES.get(window)
    allowed = window - reserve if reserve else max(window - 40_000, int(window * 0.8))
    return Room(window, min(allowed, int(window * at)) if at else allowed)


def count_used(state: State) -> int:
    """Return the tokens of the next request: the provider's last count, and what came since."""
    since = 0
    for message in reversed(state.messages):
        if isinstance(message, AssistantMessage):
            break
        since += message_tokens(message)
    return state.budget.last_usage.total + since
