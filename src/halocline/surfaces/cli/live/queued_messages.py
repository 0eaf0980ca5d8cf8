"""The messages that wait in the task, as the live screen shows and changes them. It keeps none of its own."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError
from halocline.protocol.state.message_queue import QueuedMessage
from halocline.protocol.state.state import State
from halocline.surfaces.slash.queue import withdraw_message
from halocline.surfaces.terminal.composing.prompt import Prompt


class QueueOwner(Protocol):
    """The session whose task has the queue. `put_back` puts a prompt into the composer."""

    client: Client | None
    task: str
    put_back: Callable[[Prompt], None]
    say: Callable[[str], None]
    redraw: Callable[[], None]

    @property
    def state(self) -> State | None: ...

    @property
    def has_turn(self) -> bool: ...

    def start(self, work: Coroutine[None, None, None]) -> None: ...


class QueuedMessages:
    """Sends messages that wait, and takes them back into the composer."""

    def __init__(self, session: QueueOwner) -> None:
        self._session = session

    @property
    def all(self) -> Sequence[QueuedMessage]:
        state = self._session.state
        return state.queue.messages if state else ()

    @property
    def begins_turn(self) -> bool:
        """True if a message begins the next turn by itself: what was typed after it comes after it."""
        state = self._session.state
        return state is not None and bool(state.queue.due)

    def send_first(self) -> bool:
        """Send the next message that waits for the end of the turn or for the person. False if there is none."""
        state = self._session.state
        first = state.queue.next_for_person if state else None
        if first is not None:
            steers = self._session.has_turn
            self._send(cmd.SendQueued(task=self._session.task, messages=(first.id,), steer=steers))
        return first is not None

    def take_last(self) -> bool:
        """Take the newest message back into the composer. False if there is none."""
        last = next(iter(self.all[::-1]), None)
        if last is not None:
            self._session.start(self._take_back(last))
        return last is not None

    async def _take_back(self, message: QueuedMessage) -> None:
        session = self._session
        state = session.state
        if session.client is None or state is None or not await withdraw_message(session.client, session.task, message):
            return
        session.put_back(Prompt(message.text, state.plan.mode, message.attachments))
        session.redraw()

    def _send(self, command: cmd.AnyCommand) -> None:
        client = self._session.client
        assert client is not None
        try:
            client.send(command)
        except HaloclineError as error:
            self._session.say(f"{error.text} {error.hint}".rstrip())
