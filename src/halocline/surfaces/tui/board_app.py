"""The Textual application of the board."""

import time
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Event, Key
from textual.message import Message

from halocline.client import Client
from halocline.surfaces.figures import format_plural
from halocline.surfaces.tui.block_view import BlockView
from halocline.surfaces.tui.board_screen import BoardScreen
from halocline.surfaces.tui.card_pane import CardPane
from halocline.surfaces.tui.drawing import Pen, PenApp
from halocline.surfaces.tui.fragment_lines import FragmentLines
from halocline.surfaces.tui.hint_line import HintLine
from halocline.surfaces.tui.input.key_arrivals import KeyArrivals
from halocline.surfaces.tui.input.typed_text import BoardActions
from halocline.surfaces.tui.task_screen import TaskScreen
from halocline.surfaces.web.open_tasks import OpenTasks

AGAIN = 2.0
"""Seconds in which a second Ctrl-C leaves."""
LEAVE_HINT = "Press Ctrl-C again to leave the board."


class BoardApp(PenApp):
    """Runs the board. `opened` is the task whose screen is shown at the end; empty for the list.

    `signal` is the signal that ended it, if one did; `broke` is the bug that did.
    """

    ENABLE_COMMAND_PALETTE = False
    CSS = "Screen { background: transparent; color: ansi_default; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "cancel", show=False, priority=True),
        Binding("ctrl+q", "quit_board", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", show=False, priority=True),
    ]

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client
        self._leave_until = 0.0
        self.tasks: OpenTasks | None = None
        self.opened = ""
        self.signal = 0
        self.broke: Exception | None = None
        self.arrivals = KeyArrivals()

    def on_mount(self) -> None:
        self.theme = "ansi-dark"
        self.pen = Pen(self._client.terminal_settings.theme)
        self.tasks = OpenTasks(self._client, ())
        self.push_screen(BoardScreen(self.tasks, self.open_task))

    def post_message(self, message: Message) -> bool:
        if isinstance(message, Key) and not message.is_forwarded:
            self.arrivals.note(message)
        return super().post_message(message)

    async def on_event(self, event: Event) -> None:
        await super().on_event(event)
        for pane in self.screen.query(CardPane) if isinstance(event, Key) else ():
            if not pane.has_focus:  # with the focus, it takes note after it had the key
                pane.note_key()

    def choose_theme(self, name: str) -> None:
        """Draw everything in a theme from now on."""
        self.pen = Pen(name)
        for screen in self.screen_stack:
            for view in screen.query(BlockView):
                view.measure()
            for lines in screen.query(FragmentLines):
                lines.redraw()

    def open_task(self, task: str) -> None:
        """Show a task above the list."""
        self.push_screen(self._build_screen(task))

    def go_to_task(self, task: str) -> None:
        """Show a task in the place of the one that is shown."""
        self.switch_screen(self._build_screen(task))

    def _build_screen(self, task: str) -> TaskScreen:
        assert self.tasks is not None
        actions = BoardActions(
            self.choose_theme, self.copy_to_clipboard, self.open_task, self.go_to_task, self.action_quit_board
        )
        return TaskScreen(self.tasks, task, actions)

    def action_quit_board(self) -> None:
        """Leave the board; when pressed twice, if tasks run in this process."""
        if count := self._count_own_turns():
            hint = f"{format_plural(count, 'task')} of the board would be interrupted. Press again to leave."
            self._confirm_quit(hint)
        else:
            self._quit()

    def _count_own_turns(self) -> int:
        """Count the turns that run in this process. What only waits is asked again by the next one."""
        running = self.tasks.standing() if self.tasks else {}
        return sum(status == "runs" and not self._client.is_attached(task) for task, status in running.items())

    def _confirm_quit(self, hint: str) -> None:
        now = time.monotonic()
        if now <= self._leave_until:
            return self._quit()
        self._leave_until = now + AGAIN
        for line in self.screen.query(HintLine):
            line.show_notice(hint, AGAIN)
        return None

    def _quit(self) -> None:
        """Leave, and remember which task was open."""
        tasks = [screen.feed.task for screen in self.screen_stack if isinstance(screen, TaskScreen)]
        self.opened = tasks[0] if tasks else ""
        self.exit()

    def action_cancel(self) -> None:
        """Drop what is typed; else leave, when pressed twice. No task is interrupted by it."""
        if isinstance(self.screen, TaskScreen) and self.screen.drop_line():
            return
        self._confirm_quit(LEAVE_HINT)

    def end_by(self, number: int) -> None:
        """Leave because of a signal."""
        self.signal = number
        self._quit()

    def _handle_exception(self, error: Exception) -> None:
        """End after a bug. Textual would print the values of all variables, and they may be secret."""
        self.broke = self.broke or error
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()
