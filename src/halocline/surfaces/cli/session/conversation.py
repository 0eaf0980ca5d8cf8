"""The loop between a user and a task: events in, rows out; keys and signals in, commands out."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from halocline.client import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.messages import Text, UserPart
from halocline.protocol.values import JsonObject
from halocline.surfaces.cli.exit_codes import ExitCode, of_state
from halocline.surfaces.cli.input.keys import LEFT_BY_KEY
from halocline.surfaces.cli.output.view import View

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
BEGUN_AGAIN = ev.TextDelta | ev.ThinkingDelta | ev.ToolCallDelta | ev.AssistantMessageCompleted | ev.TurnEnded
"""Events that show that no retry is pending any more."""
FOR_GOOD = "nowhere"
"""`leaves_for` of a person who quits instead of switching to another task."""
CLOSING_TIME = 5.0
"""Seconds that a task gets to write its last events when the program quits."""

if TYPE_CHECKING:
    from halocline.surfaces.cli.input.approver import Approver
    from halocline.surfaces.cli.session.user_shell import OwnCommand

T = TypeVar("T")


class Conversation:
    """One task in one view. With `stays` it asks for further prompts until the person quits; answers match the schema.

    `along` is sent with the first prompt.
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
        approver: "Approver | None" = None,
    ) -> None:
        self._client = client
        self._task = task
        self._view = view
        self._asks = view.asks or approver is not None
        self._asked: Approver | View = approver or view
        self._schema = schema
        self._along = along
        self._stays = stays
        self._running = False
        self._interrupted = False
        self._leaving = False
        self._answering = False
        self._outrun = False
        self._retrying = False
        self._waiting: asyncio.Task[object] | None = None
        self._main = asyncio.current_task()
        self._deadline: asyncio.TimerHandle | None = None
        self._gave_up = False
        self.handed_over: ev.HandedOver | None = None
        self.leaves_for = ""
        self.adds: tuple[str, ...] = ()
        self._events: AsyncIterator[ev.Event]
        self._shown = 0
        self._own: OwnCommand | None = None

    @property
    def goes_on(self) -> bool:
        """True if another task follows this one."""
        return self.handed_over is not None or self.leaves_for not in ("", FOR_GOOD)

    async def run(self, prompt: str, after: int, *, typed: bool = True) -> int:
        """Serve prompts and show every event after the given one. Returns the exit code.

        Slash commands count in a first prompt only if a person `typed` it.
        """
        started, opened = time.monotonic(), self._client.state(self._task).seq
        with self._signals():
            try:
                events = self._client.previewed if self._view.draws else self._client.events
                self._events, self._shown = events(self._task, after), after
                await self._serve(prompt, opened, typed=typed)
            except asyncio.CancelledError:
                if not self._gave_up:
                    raise
                return ExitCode.INTERRUPTED
        state = self._client.state(self._task)
        if state.turn is not None:
            return ExitCode.ERROR  # the task broke; closing the client raises the cause
        if state.last_end is None:
            return ExitCode.FINISHED  # the person quit without a prompt
        self._view.result(state, time.monotonic() - started)
        return ExitCode.INTERRUPTED if self._leaving else of_state(state)

    async def _serve(self, prompt: str, opened: int, *, typed: bool) -> None:
        """Show events and answer questions. A turn that ends at or before event `opened` is not ours."""
        if not prompt and self._client.state(self._task).turn is not None:
            self._running = True  # a turn of another process, or of one that died
        elif not await self._submit(prompt, typed=typed):
            return
        async for event in self._events:
            self._show(event)
            if self._retrying and isinstance(event, BEGUN_AGAIN):
                self._retrying = False
                self._view.offer_background(None)
            match event:
                case ev.ApprovalRequested(request=request) if self._asks:
                    await self._wait_for(self._decide(event), event.seq, partial(_decides_request, request))
                case ev.QuestionAsked(request=request) if self._asks:
                    await self._wait_for(self._answer(event), event.seq, partial(_answers_request, request))
                case ev.StepRetried(wait=wait) if wait:
                    self._retrying = True
                    self._view.offer_background(partial(self._client.send, cmd.RetryNow(task=self._task)))
                case ev.ToolCallStarted(name=name) if name == LEFT_BY_KEY:
                    self._view.offer_background(partial(self._client.send, cmd.LeaveRunning(task=self._task)))
                case ev.ToolCallEnded(name=name) if name == LEFT_BY_KEY:
                    self._view.offer_background(None)
                case ev.HandedOver() if event.seq > opened:
                    self.handed_over = event
                case ev.TurnEnded() if event.seq > opened:
                    self._running = self._interrupted = False
                    if self.handed_over or not self._stays or not await self._submit(""):
                        return

    def _show(self, event: ev.Event) -> None:
        self._view.show(event)
        if isinstance(event, ev.Durable):
            self._shown = event.seq

    async def _submit(self, prompt: str, *, typed: bool = True) -> bool:
        """Send a prompt to the task, asking for one if it is empty. False when the person quits.

        True also when another client has started a turn meanwhile.
        """
        if not prompt:
            prompt, typed = await self._next_prompt(), True
        while prompt and not self._leaving:
            if typed and self._view.asks and self._stays and prompt.lstrip().startswith("!"):
                await self._run_own(prompt.strip().removeprefix("!"))
            elif typed and self._view.asks and self._stays and await self._keep_note(prompt):
                pass
            elif typed and self._view.asks and prompt.lstrip().startswith("/") and await self._answer_own_slash(prompt):
                if self.leaves_for:
                    return False
            elif await self._send_prompt(prompt, typed=typed):
                return True
            prompt, typed = await self._next_prompt(), True
        self._running = self._outrun and not self._leaving
        return self._running

    async def _send_prompt(self, prompt: str, *, typed: bool) -> bool:
        """Start a turn. False when the prompt was refused, which is shown."""
        try:
            ahead = await self._expand_mcp_prompt(prompt) if typed and prompt.lstrip().startswith("/mcp:") else ()
            if ahead is None:
                return False
            command = cmd.SubmitPrompt(
                task=self._task,
                content=(*ahead, Text(prompt), *self._along),
                output_schema=self._schema,
                verbatim=bool(ahead) or not typed,
            )
            self._client.send(await self._client.prepared(command))
        except UsageError as error:
            if not self._stays:
                raise
            self._view.say(f"{error.text} {error.hint}".rstrip())
            return False
        self._running, self._along = True, ()
        return True

    async def _expand_mcp_prompt(self, prompt: str) -> tuple[UserPart, ...] | None:
        """Get the text of an MCP server's prompt; None when Ctrl-C ended the wait. Raises UsageError."""
        self._answering = self._stays
        try:
            return await self._wait_for(self._client.mcp_prompt(self._task, prompt))
        finally:
            self._answering = False

    async def _answer_own_slash(self, prompt: str) -> bool:
        """Answer a slash command and show its events; Ctrl-C ends only the answer. False when it is not ours."""
        self._answering, before = True, self._client.state(self._task).seq
        try:
            ours = await self._wait_for(self._answer_slash(prompt)) is not False
        finally:
            self._answering = False
        if self._client.state(self._task).seq > before:
            while self._shown < self._client.state(self._task).seq:
                self._show(await anext(self._events))
        return ours

    async def _run_own(self, command: str) -> None:
        """Run the user's own command and show it to its end; Ctrl-C stops it, and a key moves it to the background."""
        from halocline.surfaces.cli.session.user_shell import OwnCommand

        try:
            own = self._own = OwnCommand(self._client, self._task, command)
        except UsageError as error:
            self._view.say(f"{error.text} {error.hint}".rstrip())
            return
        self._view.offer_background(own.leave)
        try:
            while not own.is_over(event := await anext(self._events)):
                self._show(event)
            self._show(event)
        except StopAsyncIteration:  # the task was closed by a signal or by its writer
            self._leaving = True
        finally:
            self._own = None
            self._view.offer_background(None)

    async def _keep_note(self, prompt: str) -> bool:
        """Save the text after `# ` as a note for future tasks. False when the prompt is not such a line."""
        if not prompt.lstrip().startswith("# "):
            return False
        from halocline.client import parse_note

        if not (note := parse_note(prompt)):
            return False
        try:
            file = await self._client.memory_of(Path(self._client.state(self._task).workspace)).keep(note)
        except UsageError as error:
            self._view.say(f"{error.text} {error.hint}".rstrip())
        else:
            self._view.say(f"Saved to {file}. New tasks in this folder will read it.")
        return True

    async def _answer_slash(self, text: str) -> bool:
        """Answer a slash command that is not for the model. False when the text is not one."""
        from halocline.surfaces.cli.slash.dispatch import LeaveTask, SlashContext, answer_command, find_own_command

        if find_own_command(text) is None:
            return False
        match await answer_command(text, SlashContext(self._client, self._task, self._view)):
            case LeaveTask(to=to, roots=roots):
                self.leaves_for, self.adds = to or FOR_GOOD, roots
            case str(said) if said:
                self._view.say(said)
        return True

    async def _next_prompt(self) -> str:
        return await self._compose() if self._stays else ""

    async def _compose(self) -> str:
        """Ask for the next prompt; the mode chosen for it stays in force."""
        typed = await self._wait_for(self._view.compose(self._client, self._task), self._shown, _begins_turn)
        if typed is None:
            return ""
        if typed.mode is not self._client.state(self._task).plan.mode:
            self._client.send(cmd.SetMode(task=self._task, mode=typed.mode))
        self._along += typed.parts
        return typed.text

    async def _wait_for(
        self, asking: Coroutine[None, None, T], after: int = 0, settles: Callable[[ev.Event], bool] | None = None
    ) -> T | None:
        """Wait for a person; None when a signal came first, or an event after `after` because a client was faster."""
        waiting = self._waiting = asyncio.create_task(asking)
        watching = asyncio.create_task(self._until(after, settles)) if settles else None
        try:
            await asyncio.wait([waiting, *([watching] if watching else [])], return_when=asyncio.FIRST_COMPLETED)
            self._outrun = not waiting.done()
            waiting.cancel()
            await asyncio.wait([waiting])
            return None if waiting.cancelled() else waiting.result()
        finally:
            waiting.cancel()
            if watching:
                watching.cancel()
            self._waiting = None

    async def _until(self, after: int, settles: Callable[[ev.Event], bool]) -> None:
        """Wait for a matching event, or until the events end."""
        async for event in self._client.events(self._task, after):
            if settles(event):
                return

    async def _decide(self, event: ev.ApprovalRequested) -> None:
        decision = await self._asked.ask_approval(event, self._client, self._task)
        command = cmd.ResolveApproval(
            task=self._task,
            request=event.request,
            decision=decision.choice,
            note=decision.note,
            arguments=decision.arguments,
            scope=decision.scope,
            wider=decision.wider,
            content=decision.content,
        )
        self._client.send(command)
        if decision.stop:
            self._client.send(cmd.Interrupt(task=self._task))

    async def _answer(self, event: ev.QuestionAsked) -> None:
        answer = await self._asked.ask_question(event)
        while (
            self._view.asks
            and answer
            and answer.startswith("/")
            and not self._leaving
            and await self._answer_slash(answer)
        ):
            answer = await self._view.ask_question(event)
        if answer is None:
            self._client.send(cmd.Interrupt(task=self._task))
            return
        self._client.send(cmd.AnswerQuestion(task=self._task, request=event.request, answer=answer))

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)
            self._view.offer_background(None)
            if self._deadline is not None:
                self._deadline.cancel()

    def _on_signal(self, number: int) -> None:
        """The first Ctrl-C ends the turn; the second, or another signal, quits; one more quits at once."""
        if self._leaving:
            self._give_up()
        elif number == signal.SIGINT and self._answering:
            pass
        elif number == signal.SIGINT and self._own:
            self._own.stop()
        elif number == signal.SIGINT and self._running and not self._interrupted:
            self._interrupted = True
            self._view.expect_prompt()
            self._client.send(cmd.Interrupt(task=self._task))
        else:
            self._leave()
        if self._waiting is not None:
            self._waiting.cancel()

    def _leave(self) -> None:
        """End the turn and close the task, showing its last events. A task of another process continues there."""
        self._leaving = True
        if self._client.is_attached(self._task):
            self._give_up()
            return
        self._client.send(cmd.Interrupt(task=self._task))
        self._client.send(cmd.CloseTask(task=self._task))
        self._deadline = asyncio.get_running_loop().call_later(CLOSING_TIME, self._give_up)

    def _give_up(self) -> None:
        if self._main is not None:
            self._gave_up = True
            self._main.cancel()


def _begins_turn(event: ev.Event) -> bool:
    return isinstance(event, ev.TurnStarted | ev.TurnResumed)


def _decides_request(request: str, event: ev.Event) -> bool:
    return _asks_no_more(event) or (isinstance(event, ev.ApprovalResolved) and event.request == request)


def _answers_request(request: str, event: ev.Event) -> bool:
    return _asks_no_more(event) or (isinstance(event, ev.QuestionAnswered) and event.request == request)


def _asks_no_more(event: ev.Event) -> bool:
    """True if the question is void: the turn is over, or another process resumed it and asks again."""
    return isinstance(event, ev.TurnEnded | ev.TurnResumed)


async def close_client(client: Client) -> None:
    """Let the tasks write their last events, for a bounded time. Raises the error that broke a task."""
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSING_TIME):
            await client.close()
