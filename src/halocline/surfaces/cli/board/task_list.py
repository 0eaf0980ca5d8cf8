"""The list of all tasks in their groups, on a full screen, until a person opens one or leaves."""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial

from prompt_toolkit.application import get_app
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl

from halocline.client.themes import Theme
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.cli.board.entries import Group, TaskEntry, draw_entry, order_entries
from halocline.surfaces.cli.session.signals import SIGNALS
from halocline.surfaces.figures import format_plural
from halocline.surfaces.terminal.application.activity import Fragments, cut_line
from halocline.surfaces.terminal.application.application import LiveApplication
from halocline.surfaces.terminal.application.layout import build_style, join_lines
from halocline.surfaces.wrapping import wrap_line

AGES = 20.0
"""Seconds after which the ages are drawn again."""
AGAIN = 2.0
"""Seconds in which a second press leaves."""
KEYS = "↑↓ choose · Enter open · Tab next that needs you · q leave"
LEAVE_HINT = "Press again to leave the board."
EMPTY = 'Nothing here yet. Start a task: halo "what to do"'
_STYLES = {Group.NEEDS_YOU: "class:warn", Group.RUNNING: "class:accent", Group.ENDED: "class:quiet"}
_LEAVING = ("q", "escape", "c-d", "c-c")
_LEAVE_SCREEN = "\x1b[?1049l"


class TaskList:
    """Remembers the selected task between its screens.

    `list_entries` returns the tasks as they are now; `count_working` counts the tasks that would stop with the board.
    `signal` is the signal that ended a screen, if one did.
    """

    def __init__(
        self, theme: Theme, list_entries: Callable[[], Sequence[TaskEntry]], count_working: Callable[[], int]
    ) -> None:
        self.notice = ""
        self.signal = 0
        self._theme = theme
        self._list_entries = list_entries
        self._count_working = count_working
        self._entries: list[TaskEntry] = []
        self._groups: dict[Group, list[TaskEntry]] = {}
        self._selected = ""
        self._has_chosen = False
        """True once a key chose a task; until then the first one is selected."""
        self._top = 0
        self._opened = ""
        self._leave_until = 0.0
        self._app: LiveApplication | None = None

    async def pick_task(self) -> str:
        """Return the task to open; empty when the person leaves."""
        self._opened = ""
        self._app = app = LiveApplication(self.refresh_entries, full_screen=True)
        app.undo_signs = lambda: _LEAVE_SCREEN
        app.choose_style(build_style(self._theme))
        self.refresh_entries()
        await app.start(self._build_layout(), self._bind_keys(), lambda: None, lambda: None)
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._end_by, number)
        aging = asyncio.create_task(self._redraw_ages(app))
        try:
            await app.wait()
        finally:
            await end_tasks(aging)
            await app.stop()
            self._app = None
        return self._opened

    def request_frame(self) -> None:
        """Draw the tasks as they are now, soon."""
        if self._app:
            self._app.request_frame()

    def refresh_entries(self) -> None:
        """Look at the tasks as they are now."""
        self._groups = order_entries(self._list_entries())
        self._entries = [entry for entries in self._groups.values() for entry in entries]
        if self._entries and (self._position < 0 or not self._has_chosen):
            self._selected = self._entries[0].info.task

    async def _redraw_ages(self, app: LiveApplication) -> None:
        while True:
            await asyncio.sleep(AGES)
            app.request_frame()

    @property
    def _position(self) -> int:
        """The place of the selected task; -1 if it is gone."""
        return next((at for at, entry in enumerate(self._entries) if entry.info.task == self._selected), -1)

    def _build_layout(self) -> Layout:
        def make_window(lines: Callable[[int, int], list[Fragments]], *, fills: bool = False) -> Window:
            def draw_lines() -> StyleAndTextTuples:
                size = get_app().output.get_size()
                foot = len(self._draw_foot(size.columns, size.rows))
                return join_lines(lines(size.columns, max(1, size.rows - 1 - foot)))

            control = FormattedTextControl(draw_lines)
            return Window(control, wrap_lines=False, always_hide_cursor=True, dont_extend_height=not fills)

        panes = [make_window(self._draw_head), make_window(self._draw_tasks, fills=True), make_window(self._draw_foot)]
        return Layout(HSplit(panes))

    def _draw_head(self, width: int, rows: int) -> list[Fragments]:
        counts = [f"{len(entries)} {group.value}" for group, entries in self._groups.items() if entries]
        text = cut_line("  " + (" · ".join(counts) or "no tasks yet"), width - len("◆ All tasks") - 1)
        return [[("class:accent", "◆ "), ("class:title", "All tasks"), ("class:quiet", text)]]

    def _draw_foot(self, width: int, rows: int) -> list[Fragments]:
        notice: list[Fragments] = [[("class:warn", line)] for line in wrap_line(self.notice, width - 1)]
        return notice if self.notice else [[("class:quiet", cut_line(KEYS, width - 1))]]

    def _draw_tasks(self, width: int, rows: int) -> list[Fragments]:
        """The lines that fit, with the selected task among them."""
        if not self._entries:
            return [[("class:quiet", cut_line(f"  {EMPTY}", width - 1))]]
        lines: list[Fragments] = []
        first, last, now = 0, 0, time.time()
        for group, entries in self._groups.items():
            if entries:
                lines += [[]] * bool(lines) + [[(_STYLES[group], f"{group.value} ({len(entries)})")]]
            for entry in entries:
                drawn = draw_entry(entry, width - 1, now)
                is_selected = entry.info.task == self._selected
                if is_selected:
                    first, last = len(lines) - (entry is entries[0]), len(lines) + len(drawn)
                lines += [[("class:mark", "▌" if is_selected else " "), *line] for line in drawn]
        self._top = max(last - rows, min(self._top, first, len(lines) - rows), 0)
        return lines[self._top : self._top + rows]

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()
        moves = {"up": -1, "k": -1, "c-p": -1, "down": 1, "j": 1, "c-n": 1, "pageup": -10, "pagedown": 10}
        moves |= {"home": -1_000_000, "end": 1_000_000}

        def bind_key(name: str, act: Callable[[], object]) -> None:
            @keys.add(name)
            def press(event: KeyPressEvent) -> None:
                self.notice, self._has_chosen = "", True
                if name not in _LEAVING:
                    self._leave_until = 0.0
                act()

        for name, step in moves.items():
            bind_key(name, partial(self._move, step))
        for name in ("enter", "right"):
            bind_key(name, self._open)
        bind_key("tab", self._select_waiting)
        for name in _LEAVING:
            bind_key(name, partial(self._quit, needs_two=name == "c-c"))

        @keys.add("c-z")
        async def suspend(event: KeyPressEvent) -> None:
            if self._app:
                await self._app.suspend()

        return keys

    def _move(self, step: int) -> None:
        if self._entries:
            at = max(0, min(self._position + step, len(self._entries) - 1))
            self._selected = self._entries[at].info.task

    def _select_waiting(self) -> None:
        """Select the next task that needs a person."""
        waiting = [entry.info.task for entry in self._groups.get(Group.NEEDS_YOU, ())]
        if waiting:
            at = waiting.index(self._selected) + 1 if self._selected in waiting else 0
            self._selected = waiting[at % len(waiting)]

    def _open(self) -> None:
        if self._entries:
            self._opened = self._selected
            self._exit()

    def _quit(self, *, needs_two: bool = False) -> None:
        """Leave the board; when pressed twice, if tasks work in this process or the key `needs_two`."""
        working, now = self._count_working(), time.monotonic()
        if not (working or needs_two) or now <= self._leave_until:
            self._exit()
            return
        self._leave_until = now + AGAIN
        self.notice = f"{format_plural(working, 'task')} of the board would be interrupted. " if working else ""
        self.notice += LEAVE_HINT

    def _end_by(self, number: int) -> None:
        self.signal = number
        self._exit()

    def _exit(self) -> None:
        if self._app:
            self._app.exit()
