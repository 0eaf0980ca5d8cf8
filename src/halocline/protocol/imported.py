"""Where a task came from that another program led; part of `events`, where every reader finds it.

What must stay true: an import is the beginning of a log, and ends with `Imported`. What comes after that was done here.
"""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.messages import UserPart
from halocline.protocol.values import Value


class Origin(Value, frozen=True):
    """The transcript of another program. `stamp` changes when its files do."""

    tool: str
    id: str
    path: str
    stamp: str = ""


class Imported(Durable, frozen=True):
    """Everything before was taken from elsewhere. `lost` says what could not be; `content` tells the model of it.

    The task has no model from here on, until it goes on with one of today.
    """

    origin: Origin
    lost: tuple[str, ...] = ()
    content: tuple[UserPart, ...] = ()
