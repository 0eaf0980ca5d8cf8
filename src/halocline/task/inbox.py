"""What people send to a running task, and the waiting for it.

Prompts queue; steering is taken once; decisions and answers are bound to the id of what was asked, so a stale one is
dropped. Nothing here is remembered: what mattered is in the log.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from halocline.protocol.commands import AnswerQuestion, ResolveApproval
from halocline.protocol.events import ErrorRaised
from halocline.protocol.messages import UserPart
from halocline.protocol.values import JsonObject, Value

Content = tuple[UserPart, ...]


class Prompt(Value, frozen=True):
    """What a turn begins with: what is said, and the JSON Schema of the answer when it has to fit one."""

    content: Content
    output_schema: JsonObject | None = None


class InboxRequest(Value, frozen=True):
    """A person wants the conversation shortened, or, with `undo`, the latest compaction taken back."""

    focus: str = ""
    undo: bool = False


class Interjected(Value, frozen=True):
    """A message came instead of a decision or an answer; `client` names who sent it."""

    client: str = ""


T = TypeVar("T")


class Interrupted(Exception):
    """The turn was asked to end. `limit` names the budget that asked, when it was not a person.

    In a replay of a turn that broke, `raised` is what was said of that.
    """

    def __init__(self, limit: str = "", raised: ErrorRaised | None = None) -> None:
        super().__init__(limit)
        self.limit = limit
        self.raised = raised


class Inbox:
    """One task's inbox. `attended` says that whoever opened the task can answer what is asked; guests may, too."""

    def __init__(self, *, attended: bool) -> None:
        self.attended = attended
        self._guests = 0
        self._prompts: asyncio.Queue[Prompt | InboxRequest | None] = asyncio.Queue()
        self._wish: InboxRequest | None = None
        self._steering: deque[Content | asyncio.Future[Content]] = deque()
        self._decisions: dict[str, asyncio.Future[ResolveApproval | Interjected | None]] = {}
        self._answers: dict[str, asyncio.Future[AnswerQuestion | Interjected | None]] = {}
        self._turn: asyncio.Task[object] | None = None
        self._why: Interrupted | None = None

    @property
    def can_ask(self) -> bool:
        """Somebody is there now who can answer."""
        return self.attended or self._guests > 0

    @property
    def is_interrupted(self) -> bool:
        """The running turn is being ended."""
        return self._why is not None

    def welcome(self) -> None:
        """A guest who can answer came."""
        self._guests += 1

    def dismiss(self) -> None:
        """A guest left. When nobody is there any more, nobody answers what was asked."""
        self._guests -= 1
        if not self.can_ask:
            _settle_all(self._decisions, None)
            _settle_all(self._answers, None)

    def prompt(self, prompt: Prompt) -> None:
        self._prompts.put_nowait(prompt)

    def go_on(self) -> None:
        """Go on with the turn that is open."""
        self.prompt(Prompt(()))

    def steer(self, content: "Content | asyncio.Future[Content]") -> None:
        """Words for the running turn; those that are still being read up are waited for, in their order."""
        self._steering.append(content)

    def interject(self, content: "Content | asyncio.Future[Content]", client: str = "") -> None:
        """A person's message for the running turn: the answer to all that is asked now, once it is read up."""
        self.steer(content)
        if isinstance(content, asyncio.Future):
            content.add_done_callback(lambda read: self._answer_all(client) if _has_words(read) else None)
        else:
            self._answer_all(client)

    def _answer_all(self, client: str) -> None:
        _settle_all(self._decisions, Interjected(client))
        _settle_all(self._answers, Interjected(client))

    def wish(self, wish: InboxRequest) -> None:
        """In a turn it is for the next request, between turns it comes in its turn among the prompts."""
        if self._turn is None:
            self._prompts.put_nowait(wish)
        else:
            self._wish = wish

    def wished(self) -> InboxRequest | None:
        """What a person wanted since the last look; the latest counts."""
        wish, self._wish = self._wish, None
        return wish

    def close(self) -> None:
        """No more prompts: `prompts` ends after those that wait."""
        self._prompts.put_nowait(None)

    def abandon(self) -> None:
        """End the running turn and take up nothing more, not even the prompts that wait."""
        while not self._prompts.empty():
            self._prompts.get_nowait()
        self.interrupt()
        self.close()

    async def prompts(self) -> AsyncIterator[Prompt | InboxRequest]:
        """What there is to do, one thing after the other."""
        while (prompt := await self._prompts.get()) is not None:
            yield prompt

    async def steering(self) -> Content:
        """All text sent since the last look, joined; empty when there is none."""
        parts: Content = ()
        while self._steering:
            first = self._steering[0]
            said = await asyncio.shield(first) if isinstance(first, asyncio.Future) else first
            if self._steering and self._steering[0] is first:  # of several who wait for it, one has it
                self._steering.popleft()
                parts += said
        return parts

    def interrupt(self, limit: str = "", raised: ErrorRaised | None = None) -> None:
        """End the running turn, or the one whose prompt waits; without either, nothing happens."""
        if self._why is not None or (self._turn is None and self._prompts.empty()):
            return
        self._why = Interrupted(limit, raised)
        if self._turn is not None:
            self._turn.cancel()

    @asynccontextmanager
    async def interruptible(self, seconds: float | None = None) -> AsyncIterator[None]:
        """Make `interrupt` reach the body, and end it after `seconds`. Raises Interrupted."""
        turn = asyncio.current_task()
        assert turn is not None
        if why := self._forget():
            raise why
        self._turn = turn
        timer = asyncio.get_running_loop().call_later(seconds, self.interrupt, "time") if seconds is not None else None
        try:
            yield
            await asyncio.sleep(0)  # an interrupt during the last line arrives here
        except asyncio.CancelledError:
            why = self._forget()
            if why is None or turn.uncancel() > 0:
                raise
            raise why from None
        finally:
            self._turn = self._why = None
            if timer is not None:
                timer.cancel()

    def _forget(self) -> Interrupted | None:
        """The interrupt that arrived, if one did; it counts for one turn only."""
        why, self._why = self._why, None
        return why

    def decision(self, request: str) -> "Waiting[ResolveApproval]":
        """Somebody's decision, to be waited for; begin before the request is shown, or an answer may come too early."""
        return Waiting(self._decisions, request, attended=self.can_ask)

    def answer(self, request: str) -> "Waiting[AnswerQuestion]":
        """Somebody's answer, to be waited for in the same way."""
        return Waiting(self._answers, request, attended=self.can_ask)

    def resolve(self, command: ResolveApproval) -> bool:
        """Pass a decision on. False when nothing waits for it (already answered, or never asked)."""
        return _settle_future(self._decisions, command.request, command)

    def reply(self, command: AnswerQuestion) -> bool:
        """Pass an answer on. False when nothing waits for it."""
        return _settle_future(self._answers, command.request, command)

    def withdraw(self, request: str) -> None:
        """Who asked does not want to know any more: the waiting is cancelled."""
        if future := self._answers.get(request):
            future.cancel()


class Waiting(Generic[T]):
    """`with` it from before the question is shown until it is answered; `arrives` gives None when nobody can answer."""

    def __init__(
        self, waiting: dict[str, asyncio.Future[T | Interjected | None]], request: str, *, attended: bool
    ) -> None:
        self._waiting = waiting
        self._request = request
        self._future: asyncio.Future[T | Interjected | None] | None = (
            asyncio.get_running_loop().create_future() if attended else None
        )

    def __enter__(self) -> "Waiting[T]":
        if self._future is not None:
            self._waiting[self._request] = self._future
        return self

    def __exit__(self, *exc: object) -> None:
        self._waiting.pop(self._request, None)

    async def arrives(self) -> T | Interjected | None:
        return None if self._future is None else await self._future


def _settle_future(waiting: dict[str, asyncio.Future[T | Interjected | None]], request: str, value: T) -> bool:
    future = waiting.get(request)
    if future is None or future.done():
        return False
    future.set_result(value)
    return True


def _settle_all(waiting: dict[str, asyncio.Future[T | Interjected | None]], value: Interjected | None) -> None:
    for future in waiting.values():
        if not future.done():
            future.set_result(value)


def _has_words(read: asyncio.Future[Content]) -> bool:
    """Tell whether something was read up that can be said."""
    return not read.cancelled() and read.exception() is None and bool(read.result())
