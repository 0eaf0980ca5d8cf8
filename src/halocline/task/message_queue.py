"""Delivers the messages that wait in a task, from the one list in its state, at the moment when they are due.

What must stay true: a message is delivered by one event, which also takes it out of the list. One that cannot be made
ready for the model is held, with the reason; nothing that is held is delivered.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import Event, Noticed, QueueHeld, SteeringReceived
from halocline.protocol.messages import UserPart
from halocline.protocol.state.message_queue import QueuedMessage, QueueState
from halocline.protocol.values import JsonObject, Value

Content = tuple[UserPart, ...]


class Prompt(Value, frozen=True):
    """Start of a turn: the content, and the JSON Schema that the answer must match, if any. `turn` names it.

    `messages` are the queued messages that it delivers.
    """

    content: Content
    output_schema: JsonObject | None = None
    turn: str = ""
    messages: tuple[int, ...] = ()


async def _read_as_it_is(message: QueuedMessage) -> Content:
    return message.content


class MessageQueue:
    """The queue of one task. `prepare` returns what the model reads of a message; it may raise HaloclineError.

    `begin_turn` adds notes to what begins a turn, whose answer must match the schema, if any.
    """

    def __init__(self) -> None:
        self.prepare: Callable[[QueuedMessage], Awaitable[Content]] = _read_as_it_is
        self.begin_turn: Callable[[Content, JsonObject | None], Content] = lambda content, _: content
        self._emit: Callable[..., None] = lambda *_: None
        self._state: Callable[[], QueueState] = QueueState
        self._notes: deque[Content | asyncio.Future[Content]] = deque()
        self._delivering = asyncio.Lock()
        self._is_closed = False

    def bind(self, emit: "Callable[[Event], None]", state: Callable[[], QueueState]) -> None:
        """Serve this task from now on."""
        self._emit, self._state = emit, state

    @property
    def has_due(self) -> bool:
        """True if a message is delivered without a person: it begins the next turn, if the running one ends well."""
        return not self._is_closed and bool(self._state().due)

    def hold(self) -> None:
        """Hold all that waits, because the person stopped what went on."""
        if self.has_due:
            self._emit(QueueHeld())

    def hold_waits(self) -> None:
        """Hold what waits for other tasks, because the person stopped it."""
        if not self._is_closed and (waits := self._state().waits):
            self._emit(QueueHeld(tuple(one.id for one in waits)))

    def add_note(self, note: Content | asyncio.Future[Content]) -> None:
        """Add a note that no person wrote, for the running turn; one that is still being read keeps its place."""
        self._notes.append(note)

    def end_turn(self) -> None:
        """Drop the notes for a turn that did not end well."""
        self._notes.clear()

    def close(self) -> None:
        """Deliver nothing more: what waits stays in the list."""
        self._is_closed = True
        self._notes.clear()

    async def deliver_steering(self) -> bool:
        """Deliver what is for the running turn. False if nothing is."""
        async with self._delivering:
            notes = await self._take_notes()
            content, messages = await self._prepare_due(lambda: self._state().steering)
            if parts := (*notes, *content):
                self._emit(SteeringReceived(content=parts, messages=messages))
            return bool(parts)

    async def take_next(self) -> Prompt | None:
        """Return the prompt of the next turn, None if nothing is due. The turn's start takes it out of the list."""
        async with self._delivering:
            if not self.has_due:
                return None
            content, messages = await self._prepare_due(lambda: self._state().due)
            if not messages:
                return None
            first = self._state().find(messages[0])
            assert first is not None
            content = self.begin_turn(content, first.output_schema)
            return Prompt(content, first.output_schema, first.turn, messages)

    async def _prepare_due(self, find_due: Callable[[], tuple[QueuedMessage, ...]]) -> tuple[Content, tuple[int, ...]]:
        """Prepare the messages that are due, again if they change meanwhile, and hold those that cannot be."""
        while due := () if self._is_closed else find_due():
            parts: Content = ()
            for message in due:
                try:
                    parts += await self.prepare(message)
                except HaloclineError as error:
                    self._emit(Noticed(f"{error.text} The message was not sent. {error.hint}".rstrip()))
                    self._emit(QueueHeld((message.id,)))
            if find_due() == due:
                return parts, tuple(message.id for message in due)
        return (), ()

    async def _take_notes(self) -> Content:
        parts: Content = ()
        while self._notes:
            first = self._notes[0]
            content = await asyncio.shield(first) if isinstance(first, asyncio.Future) else first
            if self._notes and self._notes[0] is first:
                self._notes.popleft()
                parts += content
        return parts
