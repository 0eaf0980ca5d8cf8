"""Asks in a parent what its agent asks: one card more in the parent's log, with the agent's name.

What must stay true: an approval in the parent ends with the one of the agent, whichever of them is answered.
"""

import asyncio

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.commands import ResolveApproval
from halocline.protocol.kinds import Choice
from halocline.protocol.waiting import end_tasks
from halocline.task.task import Task

MESSAGE = "The user sent a message to the task that started you, instead of an answer. Continue without this."


class Relay:
    """A subscriber of the log of the agent `child`, which has this `name` in its parent."""

    def __init__(self, parent: Task, child: Task, name: str) -> None:
        self._parent = parent
        self._child = child
        self._inbox = child.inbox  # kept here: an answer may come after the child was closed
        self._name = name
        self._asking: dict[str, asyncio.Task[None]] = {}

    def push(self, event: ev.Event) -> None:
        match event:
            case ev.ApprovalRequested(request=request):
                self._asking[request] = asyncio.create_task(self._ask(event))
            case ev.ApprovalResolved(request=request) if request in self._asking:
                if shown := self._find_shown(request):
                    by = "interrupt" if event.by == "interrupt" else "user"
                    self._resolve(shown, event.decision, by, client=event.client)
                self._parent.inbox.end_unanswered(self._name_in_parent(request))
            case ev.QuestionAsked(request=request):  # at a limit: that of its parent asks
                self._inbox.end_unanswered(request)

    def close(self) -> None:
        """Do nothing: its end waits for `end`."""

    async def end(self) -> None:
        """Withdraw what is still asked."""
        self._child.log.detach(self)
        await end_tasks(*self._asking.values())

    def _name_in_parent(self, request: str) -> str:
        return f"{self._child.log.task}.{request}"

    def _find_shown(self, request: str) -> ev.ApprovalRequested | None:
        name = self._name_in_parent(request)
        return next((one for one in self._parent.state.pending.approvals if one.request == name), None)

    async def _ask(self, asked: ev.ApprovalRequested) -> None:
        shown = replace(
            asked,
            request=self._name_in_parent(asked.request),
            call=self._name_in_parent(asked.call),
            agent=f"{self._name} › {asked.agent}" if asked.agent else self._name,
        )
        with self._parent.inbox.decision(shown.request) as decision:
            self._parent.emit(shown)
            if hooks := self._parent.host.hooks:
                hooks.waits("permission_prompt", f"{shown.agent}: {shown.title}")
            answer = await decision.arrives()
        inbox, request = self._inbox, asked.request
        if not self._find_shown(request):  # it was decided elsewhere
            return
        match answer:
            case ResolveApproval(decision=choice, note=note, client=client):
                self._resolve(shown, choice, "user", note=note, client=client)
                inbox.resolve(replace(answer, task=self._child.log.task, request=request))
            case None:
                self._resolve(shown, Choice.REJECT_ONCE, "nobody")
                inbox.end_unanswered(request)
            case _:
                self._resolve(shown, Choice.REJECT_ONCE, "message", client=answer.client)
                no = ResolveApproval(
                    task=self._child.log.task, request=request, decision=Choice.REJECT_ONCE, note=MESSAGE
                )
                inbox.resolve(no)

    def _resolve(self, shown: ev.ApprovalRequested, choice: Choice, by: str, note: str = "", client: str = "") -> None:
        self._parent.emit(
            ev.ApprovalResolved(shown.request, shown.call, choice, by, note=note, client=client, agent=shown.agent)
        )
