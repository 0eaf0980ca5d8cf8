"""A conversation on the live screen: rows above, the composer and the status bar below, for as long as it lasts."""

import asyncio
import io
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from prompt_toolkit.key_binding import DynamicKeyBindings
from rich.console import Console

from halocline.client.tasks import Client
from halocline.client.themes import Theme
from halocline.first_frame import FirstFrame
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError
from halocline.protocol.messages import StopReason
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.cli.live.actions import LiveActions
from halocline.surfaces.cli.live.bindings import bind_keys
from halocline.surfaces.cli.live.composer import LineRequest, LiveComposer, ask_value
from halocline.surfaces.cli.live.live_menu import LiveMenu
from halocline.surfaces.cli.live.live_screen import LiveScreen
from halocline.surfaces.cli.live.outside import OutsideSigns, knows_progress
from halocline.surfaces.cli.live.own_keys import read_own_keys
from halocline.surfaces.cli.live.own_status import OwnStatusLine
from halocline.surfaces.cli.live.panes import PaneLines
from halocline.surfaces.cli.live.session import LiveSession
from halocline.surfaces.cli.session.notes import keep_note
from halocline.surfaces.cli.stderr import print_message
from halocline.surfaces.clipboard import BY_CODE, make_code
from halocline.surfaces.slash.dispatch import answer_command, find_own_command
from halocline.surfaces.terminal import application
from halocline.surfaces.terminal.application.activity import LiveActivity
from halocline.surfaces.terminal.application.application import LiveApplication
from halocline.surfaces.terminal.application.choice_list import FILTER_HINT
from halocline.surfaces.terminal.application.layout import LivePanes, build_style
from halocline.surfaces.terminal.asking.approval_prompt import Asker, PlanPrompt
from halocline.surfaces.terminal.asking.decision import Decision
from halocline.surfaces.terminal.asking.edit_batch import EditBatch
from halocline.surfaces.terminal.asking.edit_changes import WaitingEdit
from halocline.surfaces.terminal.composing.prompt import Prompt, split_typed, type_keys
from halocline.surfaces.terminal.composing.prompt_history import hide_key, is_provider
from halocline.surfaces.terminal.drawing.theme import ThemeChoice
from halocline.surfaces.terminal.view import APPROVE, UNANSWERED, ScreenView, show_answer

DRAFT_KEPT = "What you typed is kept: press ↑ in the next conversation."


class LiveMode(ScreenView):
    """The view of a conversation on the live screen. A person is there."""

    asks = draws = shows_beside = True
    _screen: LiveScreen

    def __init__(self, frame: FirstFrame | None = None) -> None:
        self._app = LiveApplication(lambda: self._screen.print_code(), frame)
        self.on_signal: Callable[[int], None] | None = self._app.terminal.end_by
        console = Console(file=RowFile(self._app.print_above), force_terminal=True, highlight=False)
        self._theme = ThemeChoice(console)
        self._app.on_background = self._theme.learn_background
        self._activity = LiveActivity(console, self._app.request_frame)
        self._screen = LiveScreen(console, self._activity, can_leave=True)
        self._screen.is_holding = lambda: self._app.renderer.is_holding
        self._session = LiveSession(self.say, self._app.request_frame)
        self._composer = LiveComposer(self._app.request_frame)
        self._outside = OutsideSigns(self._app.write_signal)
        self._activity.on_long = lambda text: self._outside.person.call(f"is still {text}")
        self._app.undo_signs = self._outside.undo_codes
        app = self._app
        self._menu = LiveMenu(self._session, self._composer, self._outside, app.release_terminal, app.print_rows)
        self._asker = Asker(self._screen, self._menu)
        self._batch = EditBatch(self._screen)
        self._plans = PlanPrompt(self._asker)
        self._had_text = False
        self._lines = PaneLines(self._session, self._composer, self._activity, self._screen.draw_unfinished)
        self._actions = LiveActions(self._session, self._composer, self._app, self._answer_now, self._expand)
        self._keys = bind_keys(self._actions, self._session, self._composer, self._lines.own_keys)

    @property
    def is_prompting(self) -> bool:
        return self._session.is_prompting

    async def __aenter__(self) -> Self:
        self._session.put_back, self._session.on_ready = self._composer.edit, self._actions.send_due
        self._composer.tell = partial(setattr, self._session, "notice")
        lines = self._lines
        shown = (lines.above, lines.below, lines.mark, lines.hint, lines.is_secret, lines.is_asked)
        panes = LivePanes(self._composer.buffer, *shown)
        keys = DynamicKeyBindings(lambda: self._keys)
        await self._screen.__aenter__()
        await self._app.start(panes.build_layout(), keys, self._before_key, self._after_key)
        if not self._app.typed_before:
            return self
        *sent, draft = split_typed(self._app.typed_before)
        self._session.typed_at = time.monotonic()
        if not sent and self._composer.put_below(draft):
            return self
        since = self._composer.text  # the first keys that the screen itself read come behind those before it
        self._composer.clear()
        while sent and not self._composer.text:
            self._composer.insert(sent.pop(0))
            self._composer.hold()
        rest = "\n".join(filter(None, [*sent, draft]))  # behind what may be a key, Enter counts for nothing
        self._composer.insert(f"\n{rest}" if self._composer.text and rest else rest)
        self._composer.insert(since)
        self._composer.fill_history()  # a search may have begun
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.end_jobs()
        self._composer.mentions.stop()
        self._screen.close()
        self._outside.close()
        is_kept = kind is not None and self._composer.keep_draft()
        await self._app.stop()
        if is_kept:
            print_message(DRAFT_KEPT)

    def follow_task(self, client: Client, task: str) -> None:
        """Show this task from now on."""
        if self._session.client is None:
            self._session.start(self._session.watch_other_tasks())
        self._session.follow_task(client, task)
        super().follow_task(client, task)
        self._composer.follow_task(client, task)
        self._lines.look_up_branch()
        signs = client.terminal_settings
        theme, problem = client.themes_of(task).choose()
        if self._theme.begin(theme):
            self._app.choose_style(build_style(theme))
            self._app.use_vi_keys(signs.keys == "vi")
            if signs.status_line:
                self._lines.own_status = OwnStatusLine(
                    signs.status_line, self._session.start, self.say, self._app.request_frame
                )
            for remark in filter(None, (problem, *self._bind_own_keys(client))):
                self.say(remark)
        folder = client.state(task).workspace
        self._outside.configure(
            folder,
            title=signs.title,
            progress=signs.progress and knows_progress(),
            notify=signs.notify,
            command=signs.notify_command,
        )
        self._app.request_frame()

    def _bind_own_keys(self, client: Client) -> Sequence[str]:
        """Bind the keys with the person's own. Returns why some are left out."""
        try:
            own = read_own_keys(client.settings.read_keys())
        except HaloclineError as error:
            return (f"{error.text} {error.hint}",)
        self._lines.own_keys = own
        self._keys = bind_keys(self._actions, self._session, self._composer, own)
        return own.problems

    def show(self, event: ev.Event) -> None:
        """Show the next event."""
        if self._session.takes_own_switch(event):
            self._screen.absorb(event)
        else:
            self._screen.show(event)
        match event:
            case ev.TurnStarted() | ev.TurnResumed():
                self._session.offered = ""
                self._session.on_ready()
                self._outside.change_state("working")
            case ev.TurnEnded(reason=reason):
                if reason in (StopReason.CANCELLED, StopReason.ERROR):
                    self._composer.put_back_due()
                self._session.is_stopping = False
                self._outside.change_state("idle")
                self._outside.person.call("is done")
                self._lines.look_up_branch()
        self._app.request_frame()

    def choose_theme(self, theme: Theme) -> None:
        self._theme.choose(theme)
        self._app.choose_style(build_style(theme))

    def put_prompt(self, text: str) -> None:
        self._composer.put_above(text)

    def offer_prompt(self, text: str) -> None:
        self._session.offered = text

    def expect_form(self, schema: JsonObject | None) -> None:
        self._session.schema = schema

    def copy_text(self, text: str) -> str:
        if code := make_code(text):
            self._app.write_signal(code)
        return BY_CODE if code else ""

    def result(self, state: State, seconds: float) -> None:
        """Print only the hint on missing approvals; the rest is already on the screen."""
        if state.pending.nobody_answered:
            self.say(f"{UNANSWERED} {APPROVE}")

    async def ask_approval(self, event: ev.ApprovalRequested, client: Client, task: str) -> Decision:
        await self._batch.edits.follow(client, task, event)
        edit = await WaitingEdit.load(client, task, event)
        return await self._asker.ask_approval(event, self._menu.ask_message, edit, self._batch)

    async def ask_question(self, event: ev.QuestionAsked) -> str | None:
        return await self._asker.ask_question(event)

    async def ask_line(self, label: str, *, secret: bool = False) -> str | None:
        return await self._composer.read_line(LineRequest(label, secret=secret))

    async def pick_value(self, label: str, values: Mapping[str, str], *, signs_in: bool = False) -> str | None:
        await self._session.wait_for_silence()
        return await self._composer.read_line(ask_value(label, values, FILTER_HINT, signs_in=signs_in))

    async def compose(self, client: Client, task: str) -> Prompt | None:
        self.follow_task(client, task)
        self._composer.is_hidden = False
        asking = asyncio.create_task(self._ask_about_plan(client, task))
        try:
            prompt = await self._session.next_prompt()
        finally:
            await end_tasks(asking)
        if prompt and (prompt.text.lstrip().startswith("# ") or find_own_command(prompt.text) is not None):
            self._echo(prompt.text, client)
        return prompt

    def _echo(self, text: str, client: Client) -> None:
        self._screen.echo(hide_key(text, partial(is_provider, client)))

    async def _ask_about_plan(self, client: Client, task: str) -> None:
        """Ask beside the composer, so that a typed prompt is an answer, too."""
        if self._plans.is_due(client, task) and (prompt := await self._plans.ask(client, task)):
            self._session.send_prompt(prompt)

    async def run_program(self, command: str, client: Client, task: str, is_stopped: Callable[[], bool]) -> bool:
        release = partial(self._app.release_terminal, quietly=True)
        try:
            return await application.foreground.run_program(
                command, client, task, self.say, is_stopped, release, self._take_ahead
            )
        finally:
            self._composer.is_hidden = False

    def _take_ahead(self) -> str:
        """Take what was typed since the keys were last read: it is a draft, or a part of a password."""
        typed = self._app.take_typed()
        if self._composer.is_hidden:
            self._composer.clear()
        else:
            self._composer.insert(type_keys("", typed))
        return typed

    def offer_board(self, go_back: Callable[[], object] | None) -> None:
        self._session.go_back = go_back

    def offer_background(self, leave: Callable[[], object] | None) -> None:
        self._session.move_to_background = leave

    def _expand(self) -> None:
        """Print in full what was shortened since the latest prompt."""
        self._session.notice = self._screen.expand()
        self._app.request_frame()

    async def _answer_now(self, text: str) -> None:
        """Answer a slash command, save a note, or run a command of the person, while a turn runs."""
        client, task = self._session.client, self._session.task
        if client is None:
            return
        if text.lstrip().startswith("!"):
            try:
                if await self.run_program(text.strip().removeprefix("!"), client, task, bool):
                    return
                client.send(cmd.RunCommand(task=task, command=text.strip().removeprefix("!")))
            except HaloclineError as error:
                self.say(f"{error.text} {error.hint}".rstrip())
            return
        self._echo(text, client)
        if note := await keep_note(client, task, text, self.put_prompt):
            self.say(note)
            return
        show_answer(await answer_command(text, client, task, self), self)

    def _before_key(self) -> None:
        self._session.notice = ""
        self._composer.fill_history()
        if (card := self._session.card) and (held := card.release()):
            self._composer.insert(held)
        self._had_text = bool(self._composer.text)

    def _after_key(self) -> None:
        self._outside.person.note_key()
        self._session.typed_at = time.monotonic()
        if card := self._session.card:
            card.note_key(has_text=self._had_text)


class RowFile(io.StringIO):
    """A file for a console: passes on what is written."""

    def __init__(self, print_above: Callable[[str], None]) -> None:
        super().__init__()
        self._print_above = print_above

    def write(self, text: str) -> int:
        self._print_above(text)
        return len(text)

    def isatty(self) -> bool:
        return True
