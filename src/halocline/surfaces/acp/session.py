"""One ACP session: a task, the pump that sends its events, and the prompts that wait for the end of their turns."""

import asyncio
import logging
import sys
from collections.abc import Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from acp import RequestError, schema
from acp.interfaces import Client as Editor

from halocline.client.options import TaskOptions
from halocline.client.tasks import Client, batch_events
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.messages import Text, UserPart
from halocline.protocol.state.state import State
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.acp import slash
from halocline.surfaces.acp.failures import INVALID_REQUEST, explain_failure, make_error
from halocline.surfaces.acp.options import SessionOptions
from halocline.surfaces.acp.person_requests import PersonRequests
from halocline.surfaces.acp.prompt_turns import End, PromptTurns
from halocline.surfaces.acp.prompts import Block, read_prompt
from halocline.surfaces.acp.replay import list_standing
from halocline.surfaces.acp.successor import open_successor
from halocline.surfaces.acp.updates import Update, Updates, make_plan, make_usage
from halocline.surfaces.acp.waiting_messages import WaitingMessages
from halocline.surfaces.slash.context import SlashAnswer

_OPTION_CHANGES = (ev.ModeChanged, ev.PolicyChanged, ev.ModelChanged, ev.EffortChanged)
_LOGGER = logging.getLogger(__name__)


class Session:
    """A session of one editor. `name` is the session's id: the id of its first task, also after a hand-over."""

    def __init__(
        self, client: Client, editor: Editor, name: str, opening: TaskOptions, *, replays: bool = False
    ) -> None:
        self._client = client
        self._editor = editor
        self._opening = opening
        self.name = name
        self.task = name
        state = client.state(name)
        self._updates = Updates(state.workspace, self._read_image, cost=state.budget.cost)
        self._waiting = WaitingMessages(client, self._updates.own_turns, self._send_update)
        self.options = SessionOptions(client)
        self._turns = PromptTurns(state.turn.seq if state.turn else 0)
        describe = self._updates.calls.describe_request
        self._requests = PersonRequests(editor, name, describe, self._send, self.cancel, self._turns.pause)
        self._answering: asyncio.Task[SlashAnswer] | None = None
        self._cancelling: set[asyncio.Task[None]] = set()
        self._announcing: asyncio.Task[None] | None = None
        self._prompting = asyncio.Lock()
        self._is_reading = self._is_cancelled = False
        self._successor: ev.HandedOver | None = None
        self._is_in_task = asyncio.Event()
        self._is_in_task.set()
        self._sent = 0
        """Number of the newest event that the editor has."""
        self._shown = 0
        """Count of updates about events."""
        self._progress = asyncio.Condition()
        self._is_shown = asyncio.Event()
        self._pump = asyncio.create_task(self._send_events(state, replays=replays), name=f"ACP session {name}")

    @property
    def workspace(self) -> Path:
        """The folder of the task."""
        return Path(self._client.state(self.task).workspace)

    def require_task(self) -> None:
        """Raise RequestError if the task has ended here."""
        if self._pump.done() and isinstance(end := self._read_last_word(), RequestError):
            raise end

    async def shown(self) -> None:
        """Wait until the client has the past that it asked for. Raises RequestError if it does not get it."""
        showing = asyncio.create_task(self._is_shown.wait())
        try:
            await asyncio.wait({showing, self._pump}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await end_tasks(showing)
        self.require_task()
        if self._pump.cancelled():
            raise make_error(f"Session {self.name} was closed while it was being opened. Load it again.")

    async def _replay(self, state: State) -> None:
        """Send the conversation as it was in a state, then the use of the context window and the cost so far."""
        self._updates.replays = True
        for event in list_standing([event for event in self._client.past(self.task) if event.seq <= state.seq]):
            for update in self._updates.of(event):
                await self._send_update(update)
        self._updates.replays = False
        if state.model.window and state.budget.steps:
            await self._send_update(
                make_usage(state.budget.last_usage.total, state.model.window, state.budget.known_cost)
            )

    async def prompt(self, blocks: Sequence[Block]) -> schema.PromptResponse:
        """Start a turn, or answer the pending question, and wait for the end. Raises RequestError and UsageError."""
        if self._prompting.locked():
            raise make_error("A prompt is already running. Cancel it, or wait.", INVALID_REQUEST)
        async with self._prompting:
            content = await self._read_prompt(blocks)
            if self._is_cancelled:
                return schema.PromptResponse(stop_reason="cancelled")
            if question := self._requests.take_question():
                answer = "\n".join(part.text for part in content if isinstance(part, Text))
                reply = cmd.AnswerQuestion(task=self.task, request=question.request, answer=answer)
                return await self._deliver(reply, self._turns.expect())
            if own := slash.find_own(content):
                return await self._answer_command(own)
            name, after_stop = self._turns.make_name(), self._turns.is_cancelling
            submit = cmd.SubmitPrompt(task=self.task, content=content, turn=name, after_stop=after_stop)
            self._updates.own_turns.add(submit.turn)
            return await self._deliver(submit, self._turns.expect(submit.turn))

    async def _read_prompt(self, blocks: Sequence[Block]) -> tuple[UserPart, ...]:
        """Read a prompt, once the session is in one task. A cancel until then is of this prompt."""
        self._is_reading, self._is_cancelled = True, False
        try:
            await self._is_in_task.wait()
            attach = lambda name, data: self._client.attach(self.task, name, data)
            return await read_prompt(blocks, self.workspace, attach)
        finally:
            self._is_reading = False

    async def _deliver(self, command: cmd.AnyCommand, end: "asyncio.Future[End]") -> schema.PromptResponse:
        """Send a command, and wait for the end of the prompt. Raises RequestError if it failed, or cannot end."""
        delivering = asyncio.create_task(self._client.deliver(command))
        try:
            waiting: set[asyncio.Future[Any]] = {end, self._pump, delivering}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if delivering.done():
                await delivering
            await asyncio.wait({end, self._pump}, return_when=asyncio.FIRST_COMPLETED)
        except HaloclineError as error:
            self._turns.drop(explain_failure(error))
        finally:
            delivering.cancel()
        found = end.result() if end.done() else self._read_last_word()
        if isinstance(found, RequestError):
            raise found
        return found

    def _read_last_word(self) -> End:
        """Return how a prompt ends when nothing will be sent any more."""
        return schema.PromptResponse(stop_reason="cancelled") if self._pump.cancelled() else self._pump.result()

    async def _answer_command(self, prompt: str) -> schema.PromptResponse:
        """Answer a slash command that is not for the model. It can be cancelled like a turn."""
        shown, answer = self._shown, slash.answer(prompt, self._client, self.task, self._send_update, self._requests)
        self._answering = asyncio.create_task(answer)
        try:
            await asyncio.wait({self._answering})
        finally:
            self._answering.cancel()
        if self._answering.cancelled():
            return schema.PromptResponse(stop_reason="cancelled")
        await self._catch_up()
        if (found := self._answering.result()) or self._shown == shown:
            await self._send_update(slash.show_answer(found))
        return schema.PromptResponse(stop_reason="end_turn")

    def cancel(self) -> None:
        """End the prompt, and its turn; between prompts, the turn that runs."""
        self._is_cancelled = True
        if self._answering and self._answering.cancel():
            return
        was_asked = self._requests.take_question()
        if self._is_reading and not was_asked:
            return
        if self._turns.cancel():
            self._waiting.withdraw_own(self.task)
        elif turn := self._turns.running:
            cancelling = asyncio.create_task(self._interrupt(turn))
            self._cancelling.add(cancelling)
            cancelling.add_done_callback(self._cancelling.discard)

    async def _interrupt(self, turn: int) -> None:
        """End a turn; its prompt ends with it, or with an error if the process of the turn hangs."""
        try:
            await self._client.deliver(cmd.Interrupt(task=self.task, turn=turn))
        except HaloclineError as error:
            self._turns.drop(explain_failure(error), turn)

    def announce(self) -> None:
        """Send the slash commands once the answer that names the session is on its way: it goes first."""
        self._announcing = asyncio.create_task(
            slash.send_commands(self._client, lambda: self.task, self._send_update), name=f"ACP commands of {self.name}"
        )

    async def close(self, *, leave_questions: bool = False, keep_empty: bool = False) -> None:
        """End the session: its turn ends, its task is closed, and deleted if nothing was ever asked.

        With `keep_empty`, it is not deleted. With `leave_questions`, a turn that waits for an answer does not end: the
        task asks again when it is opened again. A task that another process runs continues there.
        """
        try:
            await end_tasks(self._pump, self._announcing, self._answering, *self._cancelling)
        finally:
            await self._requests.close()
        if not self._client.is_open(self.task):
            return
        is_ours = not self._client.is_attached(self.task)
        is_empty = is_ours and self._client.state(self.task).is_empty
        with suppress(HaloclineError):
            if is_ours:
                self._client.abandon(self.task, leave_questions=leave_questions)
            await self._client.let_go(self.task)
            if is_empty and not keep_empty:
                self._client.tasks.forget(self.task)

    def _read_image(self, blob: str) -> tuple[str, bytes] | None:
        with suppress(HaloclineError):
            return self._client.handing.kept_picture(blob)
        return None

    def _send(self, command: cmd.AnyCommand) -> None:
        self._client.send(command)

    async def _send_events(self, state: State, *, replays: bool) -> End:
        """Send what happens after a state as updates, until the session ends; with `replays`, first what led to it.

        Returns the error that prompts get from then on.
        """
        after = state.seq
        try:
            if replays:
                await self._replay(state)
            self._is_shown.set()
            self._requests.ask_again(state.pending)
            while await self._follow(after):
                after = 0
        except (HaloclineError, ConnectionError) as error:
            return explain_failure(error) if isinstance(error, HaloclineError) else make_error(str(error))
        except Exception as error:
            _LOGGER.exception("The events of session %s could not be sent.", self.name)
            return make_error(f"{type(error).__name__}: {error}")
        finally:
            await self._note_progress(sys.maxsize)
        broke = await self._client.ended(self.task)
        return make_error(f"{broke or 'The task ended.'} Load it to continue.")

    async def _follow(self, after: int) -> bool:
        """Follow one task, in batches: a command may print faster than an editor draws. True if another takes over."""
        async with aclosing(batch_events(self._client.previewed(self.task, after))) as batches:
            async for batch, _ in batches:
                for event in batch:
                    await self._pass_on(event)
                    if isinstance(event, ev.TurnEnded) and (handed := self._successor):
                        await self._continue_in(handed)
                        return True
                await self._note_progress(max(self._sent, *(getattr(event, "seq", 0) for event in batch)))
        return False

    async def _note_progress(self, sent: int) -> None:
        async with self._progress:
            self._sent = sent
            self._progress.notify_all()

    async def _catch_up(self) -> None:
        """Wait until the editor has everything that happened up to now."""
        newest = self._client.state(self.task).seq
        async with self._progress:
            await self._progress.wait_for(lambda: self._sent >= newest)

    async def _pass_on(self, event: ev.Event) -> None:
        """Send what an event means to the editor, and ask the person what it asks."""
        for update in self._updates.of(event, prompted=self._turns.is_prompted):
            self._shown += 1
            await self._send_update(update)
        self._requests.follow(event)
        if isinstance(event, ev.TurnEnded):
            await self._waiting.show_held(event, self.task, self._turns)
        if isinstance(event, ev.HandedOver):
            self._successor = event
        if not (isinstance(event, ev.TurnEnded) and self._successor) and (dropped := self._turns.follow(event)):
            self._send(cmd.Interrupt(task=self.task, turn=dropped))
        if isinstance(event, ev.ConversationRestored):
            await self._send_update(make_plan(ev.TodosChanged(todos=self._client.state(self.task).plan.todos)))
        if isinstance(event, _OPTION_CHANGES):
            for update in await self.options.list_updates(self.task):
                await self._send_update(update)

    async def _continue_in(self, event: ev.HandedOver) -> None:
        """Go on with the task that continues this one's work, in the same session."""
        self._successor, self._sent = None, 0
        self._is_in_task.clear()
        try:
            await open_successor(self._client, self.task, event, self._opening, self._turns.hand_over())
            self.task = event.to
        finally:
            self._is_in_task.set()

    async def _send_update(self, update: Update) -> None:
        await self._editor.session_update(self.name, update)
