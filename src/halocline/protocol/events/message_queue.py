"""The messages of a task that wait: for the running turn's next request, for the end of the turn, or for a person.

The number of the event `MessageQueued` names the message. It is delivered by the one event that lists its number in
`messages`, a `TurnStarted` or `SteeringReceived`.
"""

from halocline.protocol.events.durable import Durable
from halocline.protocol.messages import UserPart
from halocline.protocol.values import JsonObject


class MessageQueued(Durable, frozen=True):
    """A message waits: with `steers` for the next request of the running turn, otherwise for the end of the turn.

    `after_stop`: it was sent after the turn was stopped, so the end of that turn does not hold it.
    `turn` and `output_schema` are those of its turn. Slash commands are expanded, unless it is `verbatim`. It waits
    until the tasks `after` have ended well.
    """

    content: tuple[UserPart, ...]
    steers: bool = False
    after_stop: bool = False
    output_schema: JsonObject | None = None
    turn: str = ""
    verbatim: bool = False
    client: str = ""
    after: tuple[str, ...] = ()


class QueuedMessageEdited(Durable, frozen=True):
    """A waiting message has another `content`, or another `place` in the queue, counted from 0."""

    message: int
    content: tuple[UserPart, ...] | None = None
    place: int | None = None
    client: str = ""


class MessageWithdrawn(Durable, frozen=True):
    """A waiting message was taken out of the queue: it is back in a composer, or was deleted."""

    message: int
    client: str = ""


class QueueHeld(Durable, frozen=True):
    """These messages wait for a person from now on; if none are named, all but those that wait for other tasks.

    `reason` says why a person is needed: a task that they waited for did not end well.
    """

    messages: tuple[int, ...] = ()
    reason: str = ""


class QueueReleased(Durable, frozen=True):
    """A person sent these waiting messages. The other fields are those of `MessageQueued`."""

    messages: tuple[int, ...]
    steers: bool = False
    after_stop: bool = False
    client: str = ""


QueueEvent = MessageQueued | QueuedMessageEdited | MessageWithdrawn | QueueHeld | QueueReleased
