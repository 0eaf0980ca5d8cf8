"""Asks what the selected task needs, below the list, and sends decisions to the process that runs the task.

Its transcript is not opened, and it is not joined: a client that joins can answer, and would have to stay.
"""

import asyncio
from collections.abc import Callable, Coroutine

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import ApprovalRequested, QuestionAsked
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Text
from halocline.protocol.plan_approval import APPROVED, list_commands
from halocline.protocol.state.state import State
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.board.actions import resume_task, send_command, stop_task
from halocline.surfaces.board.entries import Asked, BoardRow, TaskEntry
from halocline.surfaces.cli.board.list_card import ListCard
from halocline.surfaces.cli.board.worktree_asker import WorktreeAsker
from halocline.surfaces.rows.fold import transcript_of
from halocline.surfaces.terminal.asking.approval_prompt import Asker
from halocline.surfaces.terminal.composing.prompt import Prompt

RESUME_FIRST = "No process runs it. r resumes it in the background; what it asked is asked again."
_START = {"y": "start it all the same", "n": "do not start it: the task is deleted"}
_LATE = "Too late: it was decided elsewhere."


class TaskAsker:
    """Follows the selected task. `tell` shows a message to the person, `look_again` looks at all worktrees soon."""

    def __init__(
        self, client: Client, card: ListCard, tell: Callable[[str], None], look_again: Callable[[], None]
    ) -> None:
        self._client = client
        self._card = card
        self._tell = tell
        self._look_again = look_again
        self._worktrees = WorktreeAsker(client, card)
        self._viewed = ""
        """The task whose worktree the card shows."""
        self._asker = Asker(card, card)
        self._about: tuple[str, str, str] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()

    def follow(self, entry: TaskEntry | None) -> None:
        """Ask what this task needs, unless that is being asked already, or its worktree is shown."""
        if entry and entry.info.task == self._viewed:
            return
        self._viewed = ""
        about = (entry.info.task, _name_request(entry), entry.writer) if entry and entry.asked else None
        if about == self._about:
            return
        self._about = about
        if self._asking:
            self._asking.cancel()
        self._card.clear()
        if entry and about:
            self._asking = asyncio.create_task(self._ask(entry), name=f"card of {entry.info.task}")

    def resume(self, row: BoardRow) -> None:
        """Have the background process take a task up where it stopped."""
        if row.can_resume:
            self._tell("It is being resumed …")
            self._run(self._resume(row))
        else:
            self._tell("A process runs it." if row.process else "There is nothing to resume. Enter opens it.")

    def show_worktree(self, row: BoardRow) -> None:
        """Show the worktree of a task, and do what the person chooses there."""
        if not row.work:
            self._tell("It has no worktree.")
        elif row.task != self._viewed:
            self.follow(None)
            self._viewed, self._about = row.task, ("", "", "")
            self._asking = asyncio.create_task(self._view_worktree(row), name=f"worktree of {row.task}")

    async def _view_worktree(self, row: BoardRow) -> None:
        try:
            await self._worktrees.ask(row.folder)
        except HaloclineError as error:
            self._tell(f"{error.text} {error.hint}".rstrip())
        finally:
            self._look_again()
        self._viewed = ""
        self._card.clear()

    def stop(self, row: BoardRow) -> None:
        """Stop a task, whichever process runs it."""
        self._run(self._stop(row))

    async def end(self) -> None:
        """Ask no more."""
        self.follow(None)
        await end_tasks(self._asking, *self._running)

    def _run(self, work: Coroutine[None, None, None]) -> None:
        async def run_and_tell() -> None:
            try:
                await work
            except HaloclineError as error:
                self._tell(f"{error.text} {error.hint}".rstrip())

        running = asyncio.create_task(run_and_tell())
        self._running.add(running)
        running.add_done_callback(self._running.discard)

    async def _resume(self, row: BoardRow) -> None:
        await resume_task(self._client, row.task)
        self._tell(f"It continues in the background (process {self._client.background.pid}).")

    async def _stop(self, row: BoardRow) -> None:
        await stop_task(self._client, row.task)
        self._tell("It is stopped.")

    async def _ask(self, entry: TaskEntry) -> None:
        task, state = entry.info.task, entry.state
        if state is None:
            return
        if not entry.writer:
            self._card.show_text(f"{entry.activity}\n\n{RESUME_FIRST}")
            return
        try:
            for command in await self._decide(task, state, entry.asked):
                if not await send_command(self._client, command):
                    self._tell(_LATE)
        except HaloclineError as error:
            self._tell(f"{error.text} {error.hint}".rstrip())
            self._about = None  # it may be asked again

    async def _decide(self, task: str, state: State, asked: str) -> tuple[cmd.AnyCommand, ...]:
        """Ask, and return the commands that the answer means."""
        match asked:
            case Asked.APPROVAL:
                return await self._ask_approval(task, state.pending.approvals[0], state.plan.mode)
            case Asked.PLAN:
                return await self._ask_about_plan(task, state)
            case Asked.START if refused := state.queue.refused:
                self._card.show_text(f"{refused.reason}\n\nIt waits to be started: {refused.text}")
                if await self._card.choose("", _START) == "y":
                    return (cmd.SendQueued(task=task, messages=(refused.id,)),)
                return (cmd.WithdrawQueued(task=task, message=refused.id),)
            case Asked.ANSWER if state.pending.questions:
                return await self._ask_question(task, state.pending.questions[0])
        return ()

    async def _ask_approval(self, task: str, event: ApprovalRequested, mode: Mode) -> tuple[cmd.AnyCommand, ...]:
        past = await asyncio.to_thread(self._client.past, task)
        self._card.row = transcript_of(past).call(event.call)

        async def write(before: Prompt | None) -> Prompt | None:
            text = await self._card.ask_line("Your message to the model: ", initial=before.text if before else "")
            return Prompt(text, mode) if text and text.strip() else None

        decision = await self._asker.ask_approval(event, write)
        return (decision.resolve(task, event.request),)

    async def _ask_question(self, task: str, event: QuestionAsked) -> tuple[cmd.AnyCommand, ...]:
        answer = None
        while answer is None:
            answer = await self._asker.ask_question(event)
        return (cmd.AnswerQuestion(task=task, request=event.request, answer=answer),)

    async def _ask_about_plan(self, task: str, state: State) -> tuple[cmd.AnyCommand, ...]:
        call = state.last_message.tool_calls[-1]
        self._card.show_text(str(call.arguments.get("response", "")))
        switches = list_commands(state, await self._asker.ask_about_plan())
        prompt = cmd.SubmitPrompt(task=task, content=(Text(APPROVED),))
        return (*switches, prompt) if switches else ()


def _name_request(entry: TaskEntry) -> str:
    """Return what names the present request of a task; another one is asked again."""
    state = entry.state
    if state is None:
        return ""
    match entry.asked:
        case Asked.APPROVAL:
            return state.pending.approvals[0].request
        case Asked.ANSWER:
            return state.pending.questions[0].request if state.pending.questions else str(state.seq)
        case Asked.START if state.queue.refused:
            return str(state.queue.refused.id)
    return str(state.last_end.seq if state.last_end else 0)
