"""The two kinds of events, and what those that are written down carry."""

from halocline.protocol.values import Tagged


class Durable(Tagged, frozen=True, kw_only=True):
    """An event that is written down."""

    seq: int = 0
    at: float = 0.0
    task: str = ""


class Transient(Tagged, frozen=True, kw_only=True):
    """An event that is only shown."""


class Unrecognised(Durable, frozen=True, tag="unrecognised"):
    """A line of the log whose type this version does not know; kept so that `seq` has no gap."""

    name: str
