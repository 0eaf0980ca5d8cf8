"""What passes through the door of an open task, one JSON object a line.

A guest says who it is, then sends commands. It reads what is written in the log itself: the door says how far the log
reaches (`Reached`), and shows what is never written, in its place between two durable events.
"""

from halocline.protocol.events import TransientEvent
from halocline.protocol.values import Tagged, Value


class Joining(Value, frozen=True):
    """The first line of a guest. `name` is written down with its decisions; `asks` says that a person can be asked."""

    name: str = ""
    asks: bool = False


class Reached(Tagged, frozen=True):
    """Everything up to `seq` is in the log."""

    seq: int


class Answered(Tagged, frozen=True):
    """A command was taken, or why it was not. There is one for each command, in their order."""

    refused: str = ""


Frame = Reached | Answered | TransientEvent
