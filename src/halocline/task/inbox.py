"""Input for a running task: prompts, waiting messages, decisions and answers.

Decisions and answers carry the id of their request, so stale ones are dropped. Nothing here is persistent: messages
wait in the state (`queue` delivers them), and what matters is in the log.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from halocline.protocol.commands import AnswerQuestion, ResolveApproval
from halocline.protocol.events import ErrorRaised
from halocline.protocol.state.turn import TurnState
from halocline.protocol.values import Value
from halocline.task.message_queue import Content as Content, MessageQueue, Prompt as Prompt


class InboxRequest(Value, frozen=True):
    """Request to compact the conversation or, with `undo`, to undo the latest compaction."""

    focus: str = ""
    undo: bool = False


class Wake(Value, frozen=True):
    """Nothing but the news that a waiting message is due."""


class Interjected(Value, frozen=True):
    """A message came instead of a decision or an answer; `client` names who sent it."""

    client: str = ""


T = TypeVar("T")


class Interrupted(Exception):
    """The turn was interrupted. `limit` names the budget that did it; empty if it was the user.

    In a replay of a turn that crashed, `raised` is the recorded error.
    """

    def __init__(self, limit: str = "", raised: ErrorRaised | None = None) -> None:
        super().__init__(limit)
        self.limit = limit
        self.raised = raised


class Inbox:
    """One task's inbox. `attended` if the client that opened the task can answer questions; peers may, too.

    `keeps_time`: that client is a program that extends no limit, so the time limit cuts a turn off.
    """

    def __init__(self, *, attended: bool, keeps_time: bool = False) -> None:
        self.attended = attended
        self._keeps_time = keeps_time
        self._guests = 0
        self._prompts: asyncio.Queue[Prompt | InboxRequest | Wake | None] = asyncio.Queue()
        self._request: InboxRequest | None = None
        self.queue = MessageQueue()
        self._decisions: dict[str, asyncio.Future[ResolveApproval | Interjected | None]] = {}
        self._answers: dict[str, asyncio.Future[AnswerQuestion | Interjected | None]] = {}
        self._judged: set[str] = set()
        """Decisions that a judge may still make."""
        self._turn: asyncio.Task[object] | None = None
        self._why: Interrupted | None = None
        self._leaves = False
        self._resumes = False
        self.is_closed = False

    @property
    def can_ask(self) -> bool:
        """True if a client is connected that can answer."""
        return self.attended or self._guests > 0

    @property
    def has_peers(self) -> bool:
        """True while another process is attached that can answer."""
        return self._guests > 0

    @property
    def may_extend(self) -> bool:
        """True if a client is connected that may let a turn go on at a limit."""
        return self.can_ask and (not self._keeps_time or self._guests > 0)

    @property
    def is_interrupted(self) -> bool:
        """True if the running turn is being interrupted, or left where it is."""
        return self._why is not None or self._leaves

    def welcome(self) -> None:
        """Count a peer that can answer."""
        self._guests += 1

    def dismiss(self) -> None:
        """Discount a peer. If no client is left, open questions end without an answer."""
        self._guests -= 1
        if not self.can_ask:
            _settle_all({name: one for name, one in self._decisions.items() if name not in self._judged}, None)
            _settle_all(self._answers, None)

    def prompt(self, prompt: Prompt) -> None:
        self._prompts.put_nowait(prompt)

    def go_on(self) -> None:
        """Continue the open turn."""
        self._resumes = True
        self.prompt(Prompt(()))

    @property
    def is_idle(self) -> bool:
        """True if no turn runs and none is about to."""
        return self._turn is None and self._prompts.empty() and not self.queue.has_due

    def wake(self) -> None:
        """Look at the waiting messages, now if no turn runs."""
        if self._turn is None and self._prompts.empty():
            self._prompts.put_nowait(Wake())

    def interject(self, client: str = "") -> None:
        """Answer everything that is being asked with a message that waits for the running turn."""
        _settle_all(self._decisions, Interjected(client))
        _settle_all(self._answers, Interjected(client))

    def queue_request(self, request: InboxRequest) -> None:
        """Queue a request: in a turn for its next model request, between turns among the prompts."""
        if self._turn is None:
            self._prompts.put_nowait(request)
        else:
            self._request = request

    def take_request(self) -> InboxRequest | None:
        """Take the latest request since the last call, or None."""
        request, self._request = self._request, None
        return request

    def close(self) -> None:
        """Accept no more prompts: `prompts` ends after the queued ones."""
        self.is_closed = True
        self._prompts.put_nowait(None)

    def abandon(self, *, leave_questions: bool = False) -> None:
        """Interrupt the running turn and drop everything queued.

        With `leave_questions`, a turn that waits for the user is cancelled and its end is not recorded, as if the
        process were killed: the process that opens the task next asks again.
        """
        while not self._prompts.empty():
            self._prompts.get_nowait()
        self.queue.close()
        if leave_questions and self._turn and (self._decisions or self._answers):
            self._leaves = True
            self._turn.cancel()
        else:
            self.interrupt()
        self.close()

    async def prompts(self) -> AsyncIterator[Prompt | InboxRequest | Wake]:
        """Yield prompts and requests in order."""
        while (prompt := await self._prompts.get()) is not None:
            yield prompt

    def interrupt(self, limit: str = "", raised: ErrorRaised | None = None) -> None:
        """Interrupt the running turn, or the one whose prompt is queued; between two, hold the messages that wait."""
        if self._why is not None:
            return
        if self._turn is None and self._prompts.empty():
            self.queue.hold()
            self.queue.hold_waits()
            return
        self._why = Interrupted(limit, raised)
        if self._turn is not None:
            self._turn.cancel()

    def interrupt_turn(self, turn: TurnState | None, wanted: int = 0) -> None:
        """Interrupt the turn that is open in the log, or else the one whose prompt is queued.

        Spares a turn other than `wanted`, if set, and the next prompt while the open turn ends by itself.
        """
        if wanted and (turn is None or turn.seq != wanted):
            return
        if turn is None or self._turn is not None or self._resumes:
            self.interrupt()

    @asynccontextmanager
    async def interruptible(self, seconds: float | None = None) -> AsyncIterator[None]:
        """Let `interrupt` cancel the body, and interrupt it after `seconds`. Raises Interrupted."""
        turn = asyncio.current_task()
        assert turn is not None
        self._resumes = False
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
        """Take the interrupt that arrived, if any; it counts for one turn only."""
        why, self._why = self._why, None
        return why

    def decision(self, request: str, *, is_judged: bool = False) -> "Waiting[ResolveApproval]":
        """Wait for a decision; enter before the request is shown, or an answer may come too early.

        `is_judged`: a judge may decide, also if no client can, until `end_judgement`.
        """
        if is_judged:
            self._judged.add(request)
        return Waiting(self._decisions, request, attended=self.can_ask or is_judged)

    def is_judging(self, request: str) -> bool:
        """True if a judge looks at this before a person is needed, or decided it."""
        return request in self._judged

    def end_judgement(self, request: str) -> bool:
        """Note that no judge decides this. False if no one else can either: the wait ends without a decision."""
        self._judged.discard(request)
        if not self.can_ask:
            self.end_unanswered(request)
        return self.can_ask

    def answer(self, request: str) -> "Waiting[AnswerQuestion]":
        """Wait for an answer, in the same way."""
        return Waiting(self._answers, request, attended=self.can_ask)

    def resolve(self, command: ResolveApproval) -> bool:
        """Deliver a decision. Return False if nothing waits for it (already answered, or never asked)."""
        return _settle_future(self._decisions, command.request, command)

    def reply(self, command: AnswerQuestion) -> bool:
        """Deliver an answer. Return False if nothing waits for it."""
        return _settle_future(self._answers, command.request, command)

    def end_unanswered(self, request: str) -> None:
        """End the wait for a decision or an answer as if no one could give it: so it was in a recording."""
        _settle_future(self._decisions, request, None)
        _settle_future(self._answers, request, None)

    def withdraw(self, request: str) -> None:
        """Cancel the wait for an answer, because the question was withdrawn."""
        if future := self._answers.get(request):
            future.cancel()


class Waiting(Generic[T]):
    """Context manager around a question, from before it is shown; `arrives` returns None if no one can answer."""

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

    @property
    def is_open(self) -> bool:
        """True until there is an answer; false if no one can give one."""
        return self._future is not None and not self._future.done()

    def share_failure(self, job: "asyncio.Task[None]") -> None:
        """Raise what broke a job, if anything did, where the answer is awaited."""
        error = None if job.cancelled() else job.exception()
        if error and self._future and not self._future.done():
            self._future.set_exception(error)

    async def arrives(self) -> T | Interjected | None:
        return None if self._future is None else await self._future


def _settle_future(waiting: dict[str, asyncio.Future[T | Interjected | None]], request: str, value: T | None) -> bool:
    future = waiting.get(request)
    if future is None or future.done():
        return False
    future.set_result(value)
    return True


def _settle_all(waiting: dict[str, asyncio.Future[T | Interjected | None]], value: Interjected | None) -> None:
    for future in waiting.values():
        if not future.done():
            future.set_result(value)
