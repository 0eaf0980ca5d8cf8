"""The view of plain lines: prints into the scrollback, and reads lines when a person is there."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Self

from rich.console import Console

from halocline.client.tasks import Client
from halocline.client.themes import Theme
from halocline.protocol import events as ev
from halocline.protocol.kinds import Mode
from halocline.protocol.plan_approval import QUESTION
from halocline.protocol.state.state import State
from halocline.surfaces.cli.plain.line_menu import LineMenu
from halocline.surfaces.cli.plain.line_reader import LineReader
from halocline.surfaces.cli.plain.questions import can_draw
from halocline.surfaces.cli.stderr import print_message
from halocline.surfaces.clipboard import BY_CODE, make_code
from halocline.surfaces.slash.queue_lines import list_queue_lines
from halocline.surfaces.terminal import application
from halocline.surfaces.terminal.asking.approval_prompt import Asker, PlanPrompt
from halocline.surfaces.terminal.asking.decision import Decision
from halocline.surfaces.terminal.asking.edit_batch import EditBatch
from halocline.surfaces.terminal.asking.edit_changes import WaitingEdit
from halocline.surfaces.terminal.composing.pasting import Chips
from halocline.surfaces.terminal.composing.prompt import (
    KEY_HELD,
    NO_KEY_HERE,
    KeyGuard,
    Prompt,
    expand_quit_word,
    join_drafts,
)
from halocline.surfaces.terminal.drawing.screen import Screen
from halocline.surfaces.terminal.drawing.theme import ThemeChoice
from halocline.surfaces.terminal.view import APPROVE, UNANSWERED, ScreenView

PLACEHOLDER = "What should I do? @file, /command, !shell, Ctrl-D quit"
MESSAGE_HINT = "Your message to the model. Ctrl-C: back"
WORKING = "Working."
PLAIN_WIDTH, PLAIN_HEIGHT = 100, 25
"""Columns and lines when output is not a terminal. With both set, rich does not look for one at each row."""


class LineMode(ScreenView):
    """A conversation in the terminal's scrollback; `attended`: a person can be asked; `aloud`: it is read aloud."""

    def __init__(self, *, attended: bool, aloud: bool = False) -> None:
        self._aloud = aloud
        self.asks = attended
        self.on_signal: Callable[[int], None] | None = None
        width, height = (None, None) if sys.stdout.isatty() else (PLAIN_WIDTH, PLAIN_HEIGHT)
        console = Console(highlight=False, width=width, height=height, force_terminal=False if aloud else None)
        self._theme = ThemeChoice(console)
        self._screen = Screen(console, aloud=aloud)
        self.draws = self._screen.is_live
        self._lines = LineReader()
        self._asker = Asker(self._screen, LineMenu(self._screen, self._lines)) if attended else None
        self._batch = EditBatch(self._screen)
        self._plans = PlanPrompt(self._asker) if self._asker else None
        self._offered = ""
        self._held: tuple[int, ...] = ()

    async def __aenter__(self) -> Self:
        await self._screen.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Print pending output."""
        self._screen.close()

    def follow_task(self, client: Client, task: str) -> None:
        super().follow_task(client, task)
        settings = client.terminal_settings
        self._lines.person.how = settings.notify if sys.stdout.isatty() else "off"
        self._lines.person.command, self._lines.editor = settings.notify_command, settings.editor
        theme, problem = client.themes_of(task).choose()
        if self._theme.begin(theme):
            self._lines.theme = theme
            if problem and self.draws:
                self.say(problem)

    def show(self, event: ev.Event) -> None:
        if isinstance(event, ev.TurnStarted):
            self._offered = ""
        self._screen.show(event)
        if isinstance(event, ev.TurnStarted) and self._aloud:
            self.say(WORKING)

    def choose_theme(self, theme: Theme) -> None:
        self._theme.choose(theme)
        self._lines.theme = theme

    def put_prompt(self, text: str) -> None:
        self._lines.draft = join_drafts(text, self._lines.draft)

    def offer_prompt(self, text: str) -> None:
        self._offered = text

    def copy_text(self, text: str) -> str:
        code = make_code(text) if sys.stdout.isatty() and can_draw() else ""
        sys.stdout.write(code)
        return BY_CODE if code else ""

    def result(self, state: State, seconds: float) -> None:
        """Print only the hint on missing approvals; the rest is already on the screen."""
        if state.pending.nobody_answered:
            print_message(UNANSWERED, APPROVE)

    async def ask_approval(self, event: ev.ApprovalRequested, client: Client, task: str) -> Decision:
        if self._asker is None:
            raise RuntimeError("no person to ask")
        await self._batch.edits.follow(client, task, event)
        write, edit = partial(self._write_message, client, task), await WaitingEdit.load(client, task, event)
        decision = await self._asker.ask_approval(event, write, edit, self._batch)
        await self._quit_if_gone()
        return decision

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        if self._asker is None:
            raise RuntimeError("no person to ask")
        answer = await self._asker.ask_question(event)
        await self._quit_if_gone()
        return answer

    async def ask_line(self, label: str, *, secret: bool = False) -> str | None:
        return await self._lines.read_line(f"{label}: ", is_secret=secret)

    async def _quit_if_gone(self) -> None:
        """Leave as by the signal of a closed terminal, if it is: the end of its input decides nothing."""
        if self._lines.is_gone:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.Event().wait()

    async def run_program(self, command: str, client: Client, task: str, is_stopped: Callable[[], bool]) -> bool:
        return await application.foreground.run_program(command, client, task, self.say, is_stopped)

    def _show_held(self, client: Client, task: str) -> None:
        """Show what waits for the person, once."""
        held = client.state(task).queue.held
        new = tuple(one.id for one in held)
        if new != self._held and new:
            self._screen.say("\n".join(list_queue_lines(held, held="not sent: /queue send")))
        self._held = new

    async def compose(self, client: Client, task: str) -> Prompt | None:
        self._show_held(client, task)
        if self._plans and self._plans.is_due(client, task):
            self._screen.say(QUESTION)
            if prompt := await self._plans.ask(client, task):
                return prompt
        return await self._write(client, task)

    async def _write_message(self, client: Client, task: str, before: Prompt | None) -> Prompt | None:
        if before:
            self.put_prompt(before.text)
        return await self._write(client, task, MESSAGE_HINT)

    async def _write(self, client: Client, task: str, hint: str = "") -> Prompt | None:
        """Read a prompt, or a message with this hint; None when the person quits or goes back."""
        from halocline.surfaces.terminal.composing.prompt_history import PromptHistory, is_provider

        mode, offered = client.state(task).plan.mode, "" if hint else self._offered
        shown = hint or (f"{offered} (Enter sends this)" if offered else PLACEHOLDER)
        history = PromptHistory(client.home.prompt_history, Chips(), partial(is_provider, client))
        mark = _MARKS[mode]
        if self._aloud:
            mark, shown = f"{shown if hint or offered else _TURNS[mode]}: ", ""
        draft = self._lines.take_draft(is_message=bool(hint))
        if self._lines.forgot_key:
            self.say(NO_KEY_HERE)
        guard = KeyGuard()
        while (typed := await self._lines.read_line(mark, draft, shown, history, keeps=bool(hint))) is not None:
            if why := guard.refuse(typed):
                self.say(why)
            elif text := typed if typed.strip() else offered:
                return Prompt(text if hint else expand_quit_word(text), mode)
            draft = typed if why is KEY_HELD else self._lines.take_draft(is_message=bool(hint))
        return None


_MARKS = {Mode.ACT: "❯ ", Mode.PLAN: "plan ❯ "}
_TURNS = {Mode.ACT: "Your turn", Mode.PLAN: "Plan mode, your turn"}
