"""Messages on the socket of an open task, one JSON object per line.

A peer introduces itself, then sends commands. It reads durable events from the log itself: the socket only reports how
far the log reaches (`Reached`), and carries transient events, in their place between two durable ones.
"""

from halocline.protocol.events import TransientEvent
from halocline.protocol.values import Tagged, Value


class Introduction(Value, frozen=True):
    """A peer's first line. `name` is logged with its decisions; `asks` is true if a person can answer there."""

    name: str = ""
    asks: bool = False


class Reached(Tagged, frozen=True):
    """The log now has all events up to `seq`."""

    seq: int


class Answered(Tagged, frozen=True):
    """Reply to a command: accepted, or the reason why it was `refused`. One per command, in order."""

    refused: str = ""


Frame = Reached | Answered | TransientEvent
