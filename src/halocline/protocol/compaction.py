"""What a model does not read any more, and what stands for it."""

from enum import StrEnum

from halocline.protocol.event_kinds import Durable
from halocline.protocol.messages import UserPart


class CompactionCause(StrEnum):
    """Why the model reads less from now on: a person asked, it was nearly too much, or the provider said it was."""

    ASKED = "asked"
    CROWDED = "crowded"
    OVERFLOW = "overflow"


class CompactionStarted(Durable, frozen=True):
    """The model is asked for a summary of what it will not read any more; `tokens` is how much it reads now.

    `focus` is what a person wants kept above all.
    """

    cause: CompactionCause
    tokens: int
    focus: str = ""


class Compacted(Durable, frozen=True):
    """The model reads less from now on: the first message, `content`, and the messages from `kept_from` on.

    Nothing is deleted. `before` and `after` are tokens, as far as known. `summary` is the model's part of `content`,
    empty when it gave none. Of the messages between, those at `carried` are shown again. No message before `until` is
    shown with more than `longest` tokens, and no request has more than `limit`: what a server was found to take.
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
    """The latest compaction does not count any more: the model reads what it read before it, and what came since."""
