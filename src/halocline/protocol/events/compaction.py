"""Compaction, and pictures left out: events for what the model no longer reads, and what replaces it."""

from enum import StrEnum

from halocline.protocol.events.durable import Durable
from halocline.protocol.messages import UserPart


class CompactionCause(StrEnum):
    """Reason for a compaction: a person asked, the window was nearly full, or the provider rejected the request."""

    ASKED = "asked"
    CROWDED = "crowded"
    OVERFLOW = "overflow"


class CompactionStarted(Durable, frozen=True):
    """A compaction began: the model is asked for a summary. `tokens` is the size of the conversation now.

    `focus` is what the person most wants to keep.
    """

    cause: CompactionCause
    tokens: int
    focus: str = ""


class Compacted(Durable, frozen=True):
    """Compacted: the model now reads the first message, `content`, and the messages from `kept_from` on.

    Nothing is deleted. `before` and `after` are tokens, as far as known. `summary` is the model's part of `content`,
    empty if it gave none. Of the messages between, those at `carried` are shown again. No message before `until` is
    shown with more than `longest` tokens, and no request has more than `limit`, the size a server proved to accept.
    """

    cause: CompactionCause
    content: tuple[UserPart, ...]
    kept_from: int
    until: int
    before: int
    after: int
    summary: str = ""
    focus: str = ""
    carried: tuple[int, ...] = ()
    longest: int | None = None
    limit: int | None = None


class CompactionUndone(Durable, frozen=True):
    """The latest compaction was undone: the model again reads what it read before, and everything since."""


class PicturesLeftOut(Durable, frozen=True):
    """The model no longer reads the pictures in `blobs`. They stay in the log.

    Its server refused them, and `cause` is its message; or a person took them out, for every model: then `model` and
    `cause` are empty.
    """

    blobs: tuple[str, ...]
    model: str = ""
    cause: str = ""
