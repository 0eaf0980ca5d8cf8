"""The messages that wait, in order: the one list of a task, which every surface draws.

What must stay true: a message that is held waits until a person sends it, and one that left the list never comes back.
"""

from collections.abc import Callable, Collection

from msgspec.structs import replace

from halocline.protocol.events.message_queue import (
    MessageQueued,
    MessageWithdrawn,
    QueuedMessageEdited,
    QueueHeld,
    QueueReleased,
)
from halocline.protocol.events.turns import HandedOver, SteeringReceived, TurnEnded, TurnStarted
from halocline.protocol.messages import PASTED, PICTURE, PIPED, Image, Note, StopReason, Text, UserPart
from halocline.protocol.values import JsonObject, Value

HOLDS = frozenset({StopReason.CANCELLED, StopReason.ERROR, StopReason.MAX_TURN_REQUESTS, StopReason.REFUSAL})
"""Ends of a turn after which what waits is held."""


class QueuedMessage(Value, frozen=True):
    """A message that waits; the other fields are those of its `MessageQueued`, with this `id` as number."""

    id: int
    content: tuple[UserPart, ...]
    steers: bool = False
    after_stop: bool = False
    is_held: bool = False
    output_schema: JsonObject | None = None
    turn: str = ""
    verbatim: bool = False
    after: tuple[str, ...] = ()
    reason: str = ""
    """Why it is held, if that is not known from the turn before it."""

    @property
    def text(self) -> str:
        """The words of the person."""
        return "\n".join(part.text for part in self.content if isinstance(part, Text))

    @property
    def attachments(self) -> tuple[UserPart, ...]:
        """The images of the person, with their notes, and the pasted texts."""
        return tuple(part for part in self.content if isinstance(part, Image) or _is_attached(part))


class QueueState(Value, frozen=True):
    """The messages that wait, in the order in which they are sent."""

    messages: tuple[QueuedMessage, ...] = ()

    @property
    def steering(self) -> tuple[QueuedMessage, ...]:
        """The messages for the running turn."""
        return tuple(one for one in self.messages if one.steers and not one.is_held)

    @property
    def due(self) -> tuple[QueuedMessage, ...]:
        """The messages that begin the next turn: all for the turn that ended before it read them, or else the first."""
        return self.steering or tuple(one for one in self.messages if not (one.is_held or one.after))[:1]

    @property
    def waits(self) -> tuple[QueuedMessage, ...]:
        """The messages that wait for other tasks."""
        return tuple(one for one in self.messages if one.after and not one.is_held)

    @property
    def refused(self) -> QueuedMessage | None:
        """The first message that needs a person because a task that it waited for did not end well."""
        return next((one for one in self.messages if one.is_held and one.reason), None)

    @property
    def next_for_person(self) -> QueuedMessage | None:
        """The message that a person sends by a key: the first for the end of the turn, else the first that is held."""
        waiting = [one for one in self.messages if not one.steers]
        return next((one for one in waiting if not one.is_held), waiting[0] if waiting else None)

    @property
    def held(self) -> tuple[QueuedMessage, ...]:
        return tuple(one for one in self.messages if one.is_held)

    def find(self, message: int) -> QueuedMessage | None:
        """Return a message that waits."""
        return next((one for one in self.messages if one.id == message), None)

    def after_message(self, event: MessageQueued) -> "QueueState":
        """Add a message, one sent after a stop before those from before it."""
        added = QueuedMessage(
            event.seq,
            event.content,
            event.steers,
            event.after_stop,
            output_schema=event.output_schema,
            turn=event.turn,
            verbatim=event.verbatim,
            after=event.after,
        )
        at = sum(one.after_stop for one in self.messages) if event.after_stop else len(self.messages)
        return self._with((*self.messages[:at], added, *self.messages[at:]))

    def after_edit(self, event: QueuedMessageEdited) -> "QueueState":
        if (found := self.find(event.message)) is None:
            return self
        edited = found if event.content is None else replace(found, content=event.content)
        if event.place is None:
            return self._with(tuple(edited if one is found else one for one in self.messages))
        others = [one for one in self.messages if one is not found]
        others.insert(max(0, event.place), edited)
        return self._with(tuple(others))

    def without(self, messages: Collection[int]) -> "QueueState":
        """Return the queue after these messages were delivered, or withdrawn."""
        return self._with(tuple(one for one in self.messages if one.id not in messages)) if messages else self

    def after_hold(self, event: QueueHeld) -> "QueueState":
        held = self._hold(lambda one: one.id in event.messages or not (event.messages or one.after))
        why = {one: event.reason for one in event.messages if event.reason}
        return held._with(tuple(replace(one, reason=why[one.id]) if one.id in why else one for one in held.messages))

    def after_release(self, event: QueueReleased) -> "QueueState":
        return self._with(
            tuple(
                replace(one, is_held=False, steers=event.steers, after_stop=event.after_stop, after=(), reason="")
                if one.id in event.messages
                else one
                for one in self.messages
            )
        )

    def after_turn(self, reason: StopReason) -> "QueueState":
        """Hold what waits if the turn did not end well, except for what was sent after it was stopped."""
        if reason not in HOLDS:
            return self
        held = self._hold(lambda one: not (one.after_stop or one.after))
        return held._with(tuple(replace(one, after_stop=False) for one in held.messages))

    def _hold(self, is_held: Callable[[QueuedMessage], bool]) -> "QueueState":
        """Hold the messages that are named; what is held no longer steers a turn."""
        return self._with(
            tuple(
                replace(one, is_held=True, steers=False, after_stop=False) if is_held(one) else one
                for one in self.messages
            )
        )

    def _with(self, messages: tuple[QueuedMessage, ...]) -> "QueueState":
        return QueueState(messages) if messages != self.messages else self


def follow_queue(queue: QueueState, event: object) -> QueueState:
    """Return the queue after any event of its task."""
    match event:
        case MessageQueued():
            return queue.after_message(event)
        case QueuedMessageEdited():
            return queue.after_edit(event)
        case MessageWithdrawn(message=message):
            return queue.without((message,))
        case QueueHeld():
            return queue.after_hold(event)
        case QueueReleased():
            return queue.after_release(event)
        case TurnStarted(messages=messages) | SteeringReceived(messages=messages):
            return queue.without(messages)
        case TurnEnded(reason=reason):
            return queue.after_turn(reason)
        case HandedOver():
            return queue.after_hold(QueueHeld())
    return queue


def _is_attached(part: UserPart) -> bool:
    return isinstance(part, Note) and part.source in (PASTED, PICTURE, PIPED)
