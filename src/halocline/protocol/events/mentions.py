"""Mentions (`@file`): the event that gives their content to the model, and the preview shown while you type."""

from halocline.protocol.events.durable import Durable
from halocline.protocol.messages import UserPart
from halocline.protocol.values import Value


class MentionsResolved(Durable, frozen=True):
    """The model got the content of your `@` mentions; the first line of each note says what it is."""

    content: tuple[UserPart, ...]


class Mentioned(Value, frozen=True):
    """A resolved mention: its `text` as typed, `what` it refers to, and its approximate size in tokens.

    `tokens` is None if unknown until it is sent; `problem` means that nothing will be included.
    """

    text: str
    what: str
    tokens: int | None = None
    problem: bool = False
