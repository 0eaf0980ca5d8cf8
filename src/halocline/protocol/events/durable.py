"""The two kinds of events, and the fields of durable ones."""

from halocline.protocol.values import Tagged


class Durable(Tagged, frozen=True, kw_only=True):
    """An event that is written to the log."""

    seq: int = 0
    at: float = 0.0
    task: str = ""


class Transient(Tagged, frozen=True, kw_only=True):
    """An event that is shown and never written."""


class Unrecognised(Durable, frozen=True, tag="unrecognised"):
    """A log line of a type that this version does not know; kept so that `seq` has no gap."""

    name: str
