"""What became of a person's mentions: the event that gives it to the model, and the figures shown while they type."""

from halocline.protocol.event_kinds import Durable
from halocline.protocol.messages import UserPart
from halocline.protocol.values import Value


class MentionsResolved(Durable, frozen=True):
    """The model is given what the person mentioned by `@`; the first line of each note says what it is."""

    content: tuple[UserPart, ...]


class Mentioned(Value, frozen=True):
    """What a mention stands for: its `text` as typed, in words what it `is`, and about how many tokens it will be.

    `tokens` is None when that is known only once it is sent; a `problem` says that nothing will be given.
    """

    text: str
    what: str
    tokens: int | None = None
    problem: bool = False
