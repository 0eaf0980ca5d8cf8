"""Approvals and questions of a session, asked in the editor until they are answered there or by another client."""

import asyncio
import logging
from collections.abc import Callable, Coroutine

from acp import RequestError, schema
from acp.interfaces import Client as Editor
from msgspec.structs import replace

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import Choice
from halocline.protocol.state.pending import PendingState
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.acp import permissions
from halocline.surfaces.acp.content import make_message, make_text
from halocline.surfaces.sanitize import reveal

_LOGGER = logging.getLogger(__name__)


class PersonRequests:
    """The requests of one session. `cancel` ends its turn, `pause` only the prompt: the next one is an answer."""

    def __init__(
        self,
        editor: Editor,
        session: str,
        describe: Callable[[ev.ApprovalRequested], schema.ToolCallUpdate],
        send: Callable[[cmd.AnyCommand], object],
        cancel: Callable[[], None],
        pause: Callable[[], None],
    ) -> None:
        self._editor = editor
        self._session = session
        self._describe = describe
        self._send = send
        self._cancel = cancel
        self._pause = pause
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._question: ev.QuestionAsked | None = None

    def take_question(self) -> ev.QuestionAsked | None:
        """Take the question that the next prompt answers; None if there is none."""
        question, self._question = self._question, None
        return question

    def follow(self, event: ev.Event) -> None:
        """Ask what an event asks, and stop asking what was answered another way."""
        match event:
            case ev.ApprovalRequested():
                self._ask(event.request, self._decide(event))
            case ev.QuestionAsked():
                self._ask(event.request, self._answer(event))
            case ev.ApprovalResolved(request=request) | ev.QuestionAnswered(request=request):
                self._stop_asking(request)
            case ev.TurnEnded():
                self._question = None

    def ask_again(self, pending: PendingState) -> None:
        """Ask for what a task that was already open waits for."""
        for approval in pending.approvals:
            self.follow(approval)
        for question in pending.questions:
            self.follow(question)

    async def ask_choice(self, event: ev.QuestionAsked) -> str | None:
        """Ask a question of Halocline's own, which takes only its options; None if the editor did not answer."""
        chosen = await self._request(_describe_question(event, event.request), permissions.list_choices(event))
        return permissions.read_answer(event, chosen) if chosen else None

    async def close(self) -> None:
        """Stop asking."""
        await end_tasks(*self._asking.values())

    def _ask(self, request: str, asking: Coroutine[None, None, None]) -> None:
        self._asking[request] = asyncio.create_task(asking)

    def _stop_asking(self, request: str) -> None:
        if self._question and self._question.request == request:
            self._question = None
        if (asking := self._asking.pop(request, None)) and asking is not asyncio.current_task():
            asking.cancel()

    async def _request(self, shown: schema.ToolCallUpdate, choices: list[schema.PermissionOption]) -> str | None:
        """Ask for a choice. Return the option; empty if the editor cannot ask, None if the person cancelled."""
        try:
            found = await self._editor.request_permission(self._session, shown, choices)
        except (RequestError, ValueError) as error:
            _LOGGER.warning("The editor did not decide on %s: %s", shown.tool_call_id, error)
            return ""
        return None if isinstance(found.outcome, schema.DeniedOutcome) else found.outcome.option_id

    async def _decide(self, event: ev.ApprovalRequested) -> None:
        """Ask for a decision. An editor that cannot ask, or that answers nonsense, rejects the call."""
        option = await self._request(self._describe(event), permissions.list_options(event))
        if option is None:
            self._cancel()
        elif option == permissions.BY_FILE:
            await self._decide_files(event)
        else:
            self._send(permissions.make_decision(event.task, event, option))

    async def _decide_files(self, event: ev.ApprovalRequested) -> None:
        """Ask for a decision on each file of an edit; what is not clearly allowed is refused."""
        refused: list[str] = []
        for diff in event.diffs:
            one = self._describe(replace(event, title=f"{event.title}: {diff.path}", diffs=(diff,)))
            if (option := await self._request(one, permissions.list_file_options())) is None:
                self._cancel()
                return
            refused += [] if option == Choice.ALLOW_ONCE else [diff.path]
        chosen = cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ONCE)
        self._send(replace(chosen, refused=tuple(refused)))

    async def _answer(self, event: ev.QuestionAsked) -> None:
        """Offer the answers of a question; without any, or to type one, the turn of the protocol ends with it."""
        if event.options:
            asked = _describe_question(event, event.call or event.request)
            option = await self._request(asked, permissions.list_answers(event))
            if option is None:
                self._cancel()
                return
            if (answer := permissions.read_answer(event, option)) is not None:
                self._send(cmd.AnswerQuestion(task=event.task, request=event.request, answer=answer))
                return
        lines = [f"\n\n{reveal(event.question)}", *(f"- {reveal(option)}" for option in event.options)]
        await self._editor.session_update(self._session, make_message("\n".join(lines)))
        self._question = event
        self._pause()


def _describe_question(event: ev.QuestionAsked, call: str) -> schema.ToolCallUpdate:
    """Return a question as a call: some clients show its title, and some its content."""
    question = reveal(event.question)
    content = schema.ContentToolCallContent(content=make_text(question), type="content")
    return schema.ToolCallUpdate(tool_call_id=call, title=question, content=[content])
