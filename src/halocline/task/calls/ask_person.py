"""Asks the user, and handles what comes instead of an answer: an interrupt, a new message, or no one there.

What must stay true: a message that arrives while a question is open answers it. The message is in the log before that
answer, so no crash loses it, and nothing that was waiting runs.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from halocline.ports.permissions import JUDGE, Judge
from halocline.ports.tool import Overtaken
from halocline.protocol import events as ev
from halocline.protocol.commands import ResolveApproval
from halocline.protocol.kinds import Choice
from halocline.protocol.messages import Text
from halocline.protocol.state.state import State
from halocline.protocol.waiting import end_tasks
from halocline.task.governor import GO_ON, STOP
from halocline.task.host import TaskHost
from halocline.task.inbox import Inbox, Interjected, T, Waiting
from halocline.task.log import Log
from halocline.task.spending import Verdict


class Asking:
    """Asks the user of one task."""

    def __init__(
        self, *, log: Log, emit: Callable[..., None], state: Callable[[], State], inbox: Inbox, host: TaskHost
    ) -> None:
        self._log = log
        self._emit = emit
        self._state = state
        self._inbox = inbox
        self._host = host

    @property
    def next_seq(self) -> int:
        """Number of the next event, used to name a request."""
        return self._state().seq + 1

    async def ask_approval(
        self, asked: ev.ApprovalRequested, shown: AbstractContextManager[None]
    ) -> ResolveApproval | None:
        """Return the user's decision, None if no one can decide; `shown` is active until then. Raises Overtaken."""
        judge = self._host.judge if self._host.judge and self._host.judge.may_answer(asked, self._state()) else None
        judging: asyncio.Task[None] | None = None
        with self._inbox.decision(asked.request, is_judged=judge is not None) as decision, shown:
            self._emit(asked)
            if judge:
                judging = asyncio.create_task(self._await_judge(judge, asked))
                judging.add_done_callback(decision.share_failure)
            else:
                self._notify("permission_prompt", asked.title)
            try:
                answer = await self._wait_for(decision)
            finally:
                await end_tasks(judging)
        if isinstance(answer, ResolveApproval):
            return answer
        by, client = await self._record_message(answer)
        self._emit(ev.ApprovalResolved(asked.request, asked.call, Choice.REJECT_ONCE, by, client=client))
        if by == "message":
            raise Overtaken
        return None

    async def _await_judge(self, judge: Judge, asked: ev.ApprovalRequested) -> None:
        """Let the judge answer if it allows the call; the person may be quicker. Otherwise the person decides."""
        verdict = await judge.judge(asked, self._state(), self._emit)
        self._emit(verdict)
        if verdict.allows:
            allow = Choice.ALLOW_ONCE
            self._inbox.resolve(
                ResolveApproval(task=self._state().task, client=JUDGE, request=asked.request, decision=allow)
            )
        elif self._inbox.leave_to_person(asked.request):
            self._notify("permission_prompt", asked.title)

    async def ask(self, question: str, options: Sequence[str], call: str) -> str | None:
        """Ask the user a question; return None if no one can answer. Raises Overtaken."""
        request = f"q{self.next_seq}"
        with self._inbox.answer(request) as answer_of_person:
            self._emit(ev.QuestionAsked(request=request, question=question, options=tuple(options), call=call))
            self._notify("question", question)
            try:
                answer = await self._wait_for(answer_of_person)
            except asyncio.CancelledError:  # an MCP server may withdraw its question
                if not self._inbox.is_interrupted:
                    self._emit(ev.QuestionAnswered(request=request, answer="", by="withdrawn"))
                raise
        if answer is None or isinstance(answer, Interjected):
            by, client = await self._record_message(answer)
            self._emit(ev.QuestionAnswered(request=request, answer="", by=by, client=client))
            if by == "message":
                raise Overtaken
            return None
        self._emit(ev.QuestionAnswered(request=request, answer=answer.answer, by="user", client=answer.client))
        return answer.answer

    async def ask_to_go_on(self, verdict: Verdict) -> bool:
        """At a limit, let the user decide. Text other than the options, or a message, is guidance for the model."""
        if verdict.is_final:
            return False
        try:
            answer = await self.ask(f"{verdict.text} Go on?", (GO_ON, STOP), call="")
        except Overtaken:
            answer = GO_ON
        if answer is None or answer == STOP:
            return False
        self._emit(ev.LimitExtended(limit=verdict.limit))
        if answer != GO_ON:
            self._emit(ev.SteeringReceived(content=(Text(answer),)))
        return True

    async def _wait_for(self, waiting: Waiting[T]) -> T | Interjected | None:
        """Return what the person answers; what they are shown is on the disk.

        Without anyone to answer it does not wait at all, so that the order of several answers is not that of threads.
        """
        if waiting.is_open:
            await self._log.sync()
        return await waiting.arrives()

    async def _record_message(self, answer: Interjected | None) -> tuple[str, str]:
        """Record the message that came instead of an answer; return who answered, and through which client."""
        if answer is None:
            return "nobody", ""
        await self._inbox.queue.deliver_steering()
        return "message", answer.client

    def _notify(self, kind: str, message: str) -> None:
        """Notify the hooks that the task is waiting for the user."""
        if self._host.hooks and self._inbox.can_ask:
            self._host.hooks.waits(kind, message)
