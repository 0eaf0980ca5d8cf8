"""The state of the live screen's conversation: the task, what waits for the person, and what was typed ahead."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Text
from halocline.protocol.state.message_queue import QueuedMessage
from halocline.protocol.values import JsonObject
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.cli.live.card import Card
from halocline.surfaces.cli.live.decision_keys import SILENCE
from halocline.surfaces.cli.session import user_shell
from halocline.surfaces.slash.queue import withdraw_message
from halocline.surfaces.terminal.composing.prompt import Prompt

if TYPE_CHECKING:
    from halocline.protocol.state.state import State

QUIT_WINDOW = 2.0
"""Seconds in which a second Ctrl-C quits."""
DELIVERY = 2.0
"""Seconds that messages have to reach the task when the person leaves."""
WATCH_INTERVAL = 10.0
"""Seconds between two looks at other tasks."""
QUIT_HINT = "Press {key} again to exit"


class QueuedMessages:
    """Sends messages that wait, and takes them back into the composer."""

    def __init__(self, session: "LiveSession") -> None:
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


class LiveSession:
    """Shared by what draws the screen and what its keys do. `say` shows a message; `redraw` asks for a frame."""

    def __init__(self, say: Callable[[str], None], redraw: Callable[[], None]) -> None:
        self.say = say
        self.redraw = redraw
        self.client: Client | None = None
        self.task = ""
        self.queue = QueuedMessages(self)
        self.offered = ""
        """The prompt that Enter alone sends."""
        self.schema: JsonObject | None = None
        self.put_back: Callable[[Prompt], None] = lambda prompt: None
        self.on_ready: Callable[[], None] = lambda: None
        """Called when a prompt can be taken: the conversation waits for one, or a turn began."""
        self.card: Card | None = None
        self.notice = ""
        self.shows_keys = False
        self.is_stopping = False
        self.waiting = 0
        self.move_to_background: Callable[[], object] | None = None
        self.go_back: Callable[[], object] | None = None
        """Leaves the task to the board that opened it."""
        self._prompted: asyncio.Future[Prompt | None] | None = None
        self._quit_until = 0.0
        self._own_switches = 0
        self.typed_at = time.monotonic()
        self._jobs: set[asyncio.Task[None]] = set()
        self._delivering = asyncio.Lock()

    async def wait_for_silence(self) -> None:
        """Wait until no key came for long enough that a line may be asked for."""
        left = SILENCE - (time.monotonic() - self.typed_at)
        if left > 0:
            await asyncio.sleep(left)
            await self.wait_for_silence()

    def follow_task(self, client: Client, task: str) -> None:
        self.client, self.task = client, task

    @property
    def editor(self) -> str:
        """The editor of the settings; empty for the usual one."""
        return self.client.terminal_settings.editor if self.client else ""

    @property
    def state(self) -> "State | None":
        """The state of the task, once it is open."""
        client = self.client
        return client.state(self.task) if client and client.is_open(self.task) else None

    @property
    def is_prompting(self) -> bool:
        """True if the conversation waits for the next prompt. Once a turn has begun by itself, it takes none."""
        return self._prompted is not None and not self._prompted.done() and not self.has_turn

    @property
    def is_working(self) -> bool:
        """True if the task does something, so that a prompt waits in it."""
        state = self.state
        return state is not None and (state.turn is not None or state.compaction.running is not None)

    @property
    def has_turn(self) -> bool:
        state = self.state
        return state is not None and state.turn is not None

    async def next_prompt(self) -> Prompt | None:
        """Wait for a prompt; None when the person quits."""
        self._prompted = asyncio.get_running_loop().create_future()
        self.is_stopping = False
        asyncio.get_running_loop().call_soon(self.on_ready)
        try:
            prompt = await self._prompted
            return replace(prompt, mode=self.state.plan.mode) if prompt and self.state else prompt
        finally:
            self._prompted = None

    def send_prompt(self, prompt: Prompt | None) -> None:
        """Send a prompt to the conversation that waits for one, or else to the task, where it waits."""
        if self._prompted and self.is_prompting:
            self._prompted.set_result(prompt)
        elif prompt:
            content, after_stop = (Text(prompt.text), *prompt.parts), self.is_stopping
            command = cmd.SubmitPrompt(
                task=self.task, content=content, output_schema=self.schema, after_stop=after_stop
            )
            self.start(self._deliver(command, prompt))

    def steer(self, prompt: Prompt) -> None:
        """Send a prompt to the running turn; without one it is the next prompt."""
        if self.is_prompting or not self.has_turn:
            self.send_prompt(prompt)
        else:
            content = (Text(prompt.text), *prompt.parts)
            self.start(self._deliver(cmd.Steer(task=self.task, content=content), prompt))

    async def _deliver(self, command: cmd.AnyCommand, prompt: Prompt) -> None:
        """Send a message, after those before it; what is refused goes back to the composer."""
        assert self.client is not None
        async with self._delivering:
            try:
                await self.client.deliver(command)
            except HaloclineError as error:
                self.put_back(prompt)
                self.say(f"{error.text} {error.hint}".rstrip())

    def switch_modes(self, mode: Mode, approvals: ApprovalMode) -> None:
        """Switch by a key: the status bar shows the result, so no row needs to. Raises UsageError."""
        state, client = self.state, self.client
        if state is None or client is None:
            return
        if approvals is not state.permissions.approval_mode:
            client.send(cmd.SetPolicy(task=self.task, approval_mode=approvals))
            self._own_switches += 1
        if mode is not state.plan.mode:
            self._own_switches += 1
            client.send(cmd.SetMode(task=self.task, mode=mode))

    def takes_own_switch(self, event: ev.Event) -> bool:
        """True for the event of a switch by a key, once for each."""
        if not self._own_switches or not isinstance(event, ev.ModeChanged | ev.PolicyChanged):
            return False
        self._own_switches -= 1
        return True

    @property
    def runs_own_command(self) -> bool:
        """True while a command of the person runs from here: what stops, stops it first."""
        return bool(self.client and self.state and user_shell.list_own(self.client, self.task))

    def stop_own_command(self) -> bool:
        """Stop the person's newest command that runs. False if there is none."""
        return bool(self.client and self.state and user_shell.stop_own_command(self.client, self.task))

    def stop_turn(self) -> None:
        """Interrupt what runs, as Ctrl-C of the terminal would: in raw mode that is a key like others."""
        self.is_stopping = True
        signal.raise_signal(signal.SIGINT)

    @property
    def is_elsewhere(self) -> bool:
        """True if another process runs the task, which continues there."""
        return self.client is not None and self.client.is_attached(self.task)

    def confirm_quit(self, key: str) -> None:
        """Quit if this was asked for a moment ago; else say how. From the board nothing would be lost."""
        now, hint = time.monotonic(), QUIT_HINT.format(key=key)
        if now > self._quit_until and not self.go_back:
            self._quit_until, self.notice = now + QUIT_WINDOW, hint
            asyncio.get_running_loop().call_later(QUIT_WINDOW, self._forget_notice, hint)
            return
        self.quit()

    def quit(self) -> None:
        if self._prompted and not self.has_turn:
            self.send_prompt(None)
        elif self.go_back:
            self.go_back()
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run something beside the conversation."""
        job = asyncio.get_running_loop().create_task(work)
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def watch_other_tasks(self) -> None:
        """Count the other tasks that wait for an answer, again and again."""
        while True:
            if self.client:
                found = await asyncio.to_thread(self.client.tasks.list_waiting)
                waiting = len({*found} - {self.task})
                if waiting != self.waiting:
                    self.waiting = waiting
                    self.redraw()
            await asyncio.sleep(WATCH_INTERVAL)

    async def end_jobs(self) -> None:
        """Stop what still runs beside the conversation, once the messages that were sent have reached the task."""
        await asyncio.sleep(0)
        with suppress(TimeoutError):
            async with asyncio.timeout(DELIVERY), self._delivering:
                pass
        await end_tasks(*self._jobs)

    def _forget_notice(self, notice: str) -> None:
        if self.notice == notice:
            self.notice = ""
            self.redraw()
