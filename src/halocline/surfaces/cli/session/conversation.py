"""The loop between a user and a task: events in, rows out; keys and signals in, commands out."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Text, UserPart
from halocline.protocol.values import JsonObject
from halocline.surfaces import slash
from halocline.surfaces.cli import session
from halocline.surfaces.cli.exit_codes import ExitCode, of_run
from halocline.surfaces.cli.session.background_key import BackgroundKey
from halocline.surfaces.cli.session.closing import CLOSING_TIME
from halocline.surfaces.cli.session.cut_short import find_offer
from halocline.surfaces.cli.session.signals import handle_signals
from halocline.surfaces.cli.session.waiting import PersonWait, answers_request, begins_turn, decides_request
from halocline.surfaces.terminal.view import View, show_answer

if TYPE_CHECKING:
    from halocline.surfaces.cli.session.user_shell import OwnCommand
    from halocline.surfaces.slash.context import LeaveTask


class Conversation:
    """One task in one view. With `stays` it asks for further prompts until the person quits; answers match the schema.

    `along` is sent with the first prompt. Opened from the board, it can be left while its turn runs.
    """

    def __init__(
        self,
        client: Client,
        task: str,
        view: View,
        schema: JsonObject | None = None,
        along: tuple[UserPart, ...] = (),
        *,
        stays: bool,
        on_board: bool = False,
    ) -> None:
        self._client = client
        self.task = task
        self._view = view
        self._schema = schema
        self._along = along
        self._stays = stays
        self._on_board = on_board
        self._running = False
        self._interrupted = False
        self._leaving = self._answering = False
        self._is_asking = self._stops_next = False
        self._key = BackgroundKey(client, task, view)
        self._wait = PersonWait(client, task)
        self._main = asyncio.current_task()
        self._deadline: asyncio.TimerHandle | None = None
        self._gave_up = False
        self._is_sending = self._goes_back = False
        self.handed_over: ev.HandedOver | None = None
        self.leaves: LeaveTask | None = None
        self._events: AsyncIterator[ev.Event]
        self._shown = 0
        self._own: OwnCommand | None = None

    def switch_to(self, task: str) -> "Conversation":
        """Begin the conversation of another task in the same view. Raises UsageError."""
        return Conversation(self._client, task, self._view, self._schema, stays=self._stays, on_board=self._on_board)

    @property
    def is_leaving(self) -> bool:
        """True after a signal ended the conversation."""
        return self._leaving

    @property
    def goes_on(self) -> bool:
        """True if another task follows this one."""
        return self.handed_over is not None or bool(self.leaves and self.leaves.to)

    async def run(self, prompt: str, after: int, *, typed: bool = True) -> int:
        """Serve prompts and show every event after the given one. Returns the exit code.

        Slash commands count in a first prompt only if a person `typed` it.
        """
        started, opened = time.monotonic(), self._client.state(self.task).seq
        self._view.follow_task(self._client, self.task)
        self._view.expect_form(self._schema)
        if self._on_board:
            self._view.offer_board(self._go_back)
        self._view.offer_prompt(find_offer(self._client.state(self.task)))
        with handle_signals(self._on_signal, self._view.on_signal):
            try:
                events = self._client.previewed if self._view.draws else self._client.events
                self._events, self._shown = events(self.task, after), after
                await self._serve(prompt, opened, typed=typed)
            except asyncio.CancelledError:
                if not self._gave_up:
                    raise
                return ExitCode.INTERRUPTED
            finally:
                self._view.offer_background(None)
                self._view.offer_board(None)
                if self._deadline is not None:
                    self._deadline.cancel()
        state = self._client.state(self.task)
        if state.turn is None and state.last_end is not None:
            self._view.result(state, time.monotonic() - started)
        return of_run(state, is_leaving=self._leaving)

    async def _serve(self, prompt: str, opened: int, *, typed: bool) -> None:
        """Show events and answer questions. A turn that ends at or before event `opened` is not ours."""
        if not prompt and self._client.state(self.task).turn is not None:
            self._running = True  # a turn of another process, or of one that died
        elif not await self._submit(prompt, typed=typed):
            return
        async for event in self._events:
            self._show(event)
            self._key.follow(event)
            match event:
                case ev.ApprovalRequested(request=request) if self._view.asks:
                    await self._ask(self._decide(event), event.seq, partial(decides_request, request))
                case ev.QuestionAsked(request=request) if self._view.asks:
                    await self._ask(self._answer(event), event.seq, partial(answers_request, request))
                case ev.HandedOver() if event.seq > opened:
                    self.handed_over = event
                case ev.TurnEnded() if event.seq > opened:
                    self._running = self._interrupted = False
                    if self.handed_over or not self._stays or not await self._submit(""):
                        return

    async def _ask(self, asking: Coroutine[None, None, None], after: int, settles: Callable[[ev.Event], bool]) -> None:
        await self._wait.wait_for(asking, after, settles, self._show if self._view.shows_beside else None)

    def _show(self, event: ev.Event) -> None:
        """Show an event, once: what happened beside a question was shown then."""
        if not isinstance(event, ev.Durable) or event.seq > self._shown:
            self._view.show(event)
        if isinstance(event, ev.Durable):
            self._shown = max(event.seq, self._shown)

    async def _submit(self, prompt: str, *, typed: bool = True) -> bool:
        """Send a prompt to the task, asking for one if it is empty. False when the person quits.

        True also when another client has started a turn meanwhile.
        """
        if not prompt and self._along and not self._stays:  # images alone
            return await self._send_prompt("", typed=False)
        if not prompt and self._client.state(self.task).turn is not None:  # it began with a message that waited
            self._running = True
            return True
        if not prompt:
            prompt, typed = await self._next_prompt(), True
        while prompt and not self._leaving:
            by_person = typed and self._view.asks
            if by_person and self._stays and prompt.lstrip().startswith("!"):
                await self._run_own(prompt.strip().removeprefix("!"))
            elif by_person and self._stays and (said := await self._keep_note(prompt)):
                self._view.say(said)
            elif by_person and prompt.lstrip().startswith("/") and await self._answer_own_slash(prompt):
                if self.leaves or self._running:
                    return not self.leaves
            elif await self._send_prompt(prompt, typed=typed):
                return True
            prompt, typed = await self._next_prompt(), True
        self._running = self._wait.is_outrun and not self._leaving
        return self._running

    async def _keep_note(self, prompt: str) -> str:
        return await session.notes.keep_note(self._client, self.task, prompt, self._view.put_prompt)

    async def _send_prompt(self, prompt: str, *, typed: bool) -> bool:
        """Start a turn. False when the prompt was refused, which is shown."""
        try:
            ahead = await self._expand_mcp_prompt(prompt) if typed and prompt.lstrip().startswith("/mcp:") else ()
            if ahead is None:
                return False
            command = cmd.SubmitPrompt(
                task=self.task,
                content=(*ahead, *map(Text, filter(None, (prompt,))), *self._along),
                output_schema=self._schema,
                verbatim=bool(ahead) or not typed,
            )
            self._is_sending = True
            self._client.send(await self._client.prepared(command))
        except UsageError as error:
            if not self._stays:
                raise
            self._view.say(f"{error.text} {error.hint}".rstrip())
            return False
        finally:
            self._is_sending = False
            if self._goes_back:
                self._give_up()
        self._running, self._along = True, ()
        if self._stops_next:
            self._interrupt()
        return True

    async def _expand_mcp_prompt(self, prompt: str) -> tuple[UserPart, ...] | None:
        """Get the text of an MCP server's prompt; None when Ctrl-C ended the wait. Raises UsageError."""
        self._answering = self._stays
        try:
            return await self._wait.wait_for(self._client.mcp_prompt(self.task, prompt))
        finally:
            self._answering = False

    async def _answer_own_slash(self, prompt: str) -> bool:
        """Answer a slash command and show its events; Ctrl-C ends only the answer. False when it is not ours.

        If it began a turn, that is shown like any other.
        """
        self._answering, before = True, self._client.state(self.task).seq
        try:
            ours = await self._wait.wait_for(self._answer_slash(prompt)) is not False
        finally:
            self._answering = False
        if self._client.state(self.task).seq > before:
            while self._shown < self._client.state(self.task).seq and not self._running:
                self._show(event := await anext(self._events))
                self._running = begins_turn(event)
        return ours

    async def _run_own(self, command: str) -> None:
        """Run the user's own command and show it to its end; Ctrl-C stops it, and a key moves it to the background."""
        if self._stops_next:
            return self._view.put_prompt(f"!{command}")
        try:
            if await self._view.run_program(command, self._client, self.task, lambda: self._stops_next):
                return None
            own = self._own = session.user_shell.OwnCommand(self._client, self.task, command)
        except UsageError as error:
            self._view.say(f"{error.text} {error.hint}".rstrip())
            return None
        self._view.offer_background(own.leave)
        try:
            self._leaving |= not await own.show_to_end(self._events, self._show)
        finally:
            self._own = None
            self._view.offer_background(None)

    async def _answer_slash(self, text: str) -> bool:
        """Answer a slash command that is not for the model. False when the text is not one."""
        from halocline.surfaces.slash.dispatch import answer_command, find_own_command

        if find_own_command(text) is None:
            return False
        answer = await answer_command(text, self._client, self.task, self._view)
        if isinstance(answer, slash.context.LeaveTask):
            self.leaves = answer
        show_answer(answer, self._view)
        return True

    async def _next_prompt(self) -> str:
        """Ask for the next prompt; the mode chosen for it stays in force. Empty when the person quits."""
        if not self._stays:
            return ""
        self._is_asking, self._stops_next = True, False
        composing, show = self._view.compose(self._client, self.task), self._show if self._view.shows_beside else None
        typed = await self._wait.wait_for(composing, self._shown, begins_turn, show)
        self._is_asking = False
        if typed is None:
            return ""
        if typed.mode is not self._client.state(self.task).plan.mode:
            self._client.send(cmd.SetMode(task=self.task, mode=typed.mode))
        self._along += typed.parts
        return typed.text

    async def _decide(self, event: ev.ApprovalRequested) -> None:
        decision = await self._view.ask_approval(event, self._client, self.task)
        self._client.send(decision.resolve(self.task, event.request))
        if decision.stop:
            self._interrupt()

    async def _answer(self, event: ev.QuestionAsked) -> None:
        answer = await self._view.ask_question(event)
        while (
            self._view.asks
            and answer
            and answer.startswith("/")
            and not self._leaving
            and await self._answer_slash(answer)
        ):
            answer = await self._view.ask_question(event)
        if answer is None:
            self._interrupt()
            return
        self._client.send(cmd.AnswerQuestion(task=self.task, request=event.request, answer=answer))

    def _on_signal(self, number: int) -> None:
        """The first Ctrl-C ends the turn; the second, or another signal, quits; one more quits at once."""
        if self._leaving:
            self._give_up()
        elif number == signal.SIGINT and self._answering:
            pass
        elif number == signal.SIGINT and (session.user_shell.stop_own_command(self._client, self.task) or self._own):
            return
        elif number == signal.SIGINT and self._running and not self._interrupted:
            self._interrupted = True
            self._interrupt()
        elif number == signal.SIGINT and self._is_between and not self._stops_next:
            self._stops_next = True
            return
        elif number == signal.SIGINT and self._on_board:
            self._go_back()
        else:
            self._leave()
        self._wait.cancel()

    @property
    def _is_between(self) -> bool:
        """True if a prompt or a command was sent and has not begun."""
        return self._stays and not (self._running or (self._is_asking and self._view.is_prompting))

    def _interrupt(self) -> None:
        """Interrupt the turn that runs now, or else the one whose prompt was just sent."""
        turn = self._client.state(self.task).turn
        self._client.send(cmd.Interrupt(task=self.task, turn=turn.seq if turn else 0))

    def _leave(self) -> None:
        """End the turn, but not what waits for the person, and close the task; one of another process continues."""
        self._leaving = True
        if self._client.is_attached(self.task):
            self._give_up()
            return
        self._client.abandon(self.task, leave_questions=True)
        self._deadline = asyncio.get_running_loop().call_later(CLOSING_TIME, self._give_up)

    def _go_back(self) -> None:
        """Leave the task to the board, as it is; a prompt that is being sent reaches the task first."""
        if self._is_sending and not self._goes_back:
            self._goes_back = True
        else:
            self._give_up()

    def _give_up(self) -> None:
        if self._main is not None:
            self._gave_up = True
            self._main.cancel()
