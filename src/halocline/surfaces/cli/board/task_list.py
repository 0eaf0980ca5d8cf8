"""The list of all tasks in their groups, on a full screen, until a person opens one or leaves."""

import asyncio
import signal
import string
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition, FilterOrBool
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl

from halocline.client.themes import Theme
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.board.entries import BoardRow, Group, TaskEntry, fits_filter, list_rows, list_tasks
from halocline.surfaces.cli.board.drawing import STYLES, draw_row
from halocline.surfaces.cli.board.line_field import LineField
from halocline.surfaces.cli.board.list_card import ListCard
from halocline.surfaces.cli.session.signals import SIGNALS
from halocline.surfaces.figures import format_plural
from halocline.surfaces.terminal.application.application import LiveApplication
from halocline.surfaces.terminal.application.layout import build_style, join_lines
from halocline.surfaces.wrapping import Fragments, cut_line, wrap_line

AGES = 20.0
"""Seconds after which the ages are drawn again."""
AGAIN = 2.0
"""Seconds in which a second press leaves."""
KEYS = (
    "↑↓ choose · Enter open · Tab next that needs you · / filter · w worktree · r resume · x stop · q leave",
    "↑↓ · Enter open · Tab next · / filter · w worktree · r resume · x stop · q leave",
    "↑↓ · Enter open · / filter · q leave",
)
"""The keys, for screens of less and less width."""
TYPING_KEYS = "Enter takes it · Esc goes back"
LEAST_ROWS = 7
"""Rows of the list beside a card, if there is room for both."""
LEAVE_HINT = "Press again to leave the board."
EMPTY = 'Nothing here yet. Start a task: halo "what to do"'
_TWICE = ("q", "escape", "c-d", "c-c", "x")
"""Keys that may ask to be pressed again."""
_LEAVE_SCREEN = "\x1b[?1049l"


class ListActions(Protocol):
    """Actions of the list on tasks: `follow` asks what the selected one needs."""

    def follow(self, entry: TaskEntry | None) -> None: ...
    def resume(self, row: BoardRow) -> None: ...
    def stop(self, row: BoardRow) -> None: ...
    def show_worktree(self, row: BoardRow) -> None: ...


class TaskList:
    """Remembers the selected task between its screens.

    `list_entries` returns the tasks as they are now; `count_working` counts the tasks that would stop with the board.
    `signal` is the signal that ended a screen, if one did.
    """

    def __init__(
        self,
        theme: Theme,
        list_entries: Callable[[], Sequence[TaskEntry]],
        count_working: Callable[[], int],
        actions: ListActions,
        card: ListCard,
        field: LineField,
    ) -> None:
        self.notice = ""
        self.signal = 0
        self._theme = theme
        self._list_entries = list_entries
        self._count_working = count_working
        self._actions = actions
        self._card = card
        self._field = field
        self._rows: list[BoardRow] = []
        self._filter = ""
        self._typing: asyncio.Task[None] | None = None
        self._selected = ""
        self._has_chosen = False
        """True once a key chose a task; until then the first one is selected."""
        self._top = 0
        self._opened = ""
        self._again_until = 0.0
        self._app: LiveApplication | None = None

    async def pick_task(self) -> str:
        """Return the task to open; empty when the person leaves."""
        self._opened = ""
        self._app = app = LiveApplication(self.refresh_entries, full_screen=True)
        app.undo_signs = lambda: _LEAVE_SCREEN
        app.choose_style(build_style(self._theme))
        self.refresh_entries()
        await app.start(self._build_layout(), self._bind_keys(), self._before_key, self._after_key)
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._end_by, number)
        aging = asyncio.create_task(self._redraw_ages(app))
        try:
            await app.wait()
        finally:
            await app.stop()
            self._actions.follow(None)
            await end_tasks(aging, self._typing)
            self._app = None
        return self._opened

    def take_interrupt(self) -> bool:
        """Forget a Ctrl-C that came after a task was chosen. True if there was one."""
        was_interrupted = self.signal == signal.SIGINT
        self.signal = 0 if was_interrupted else self.signal
        return was_interrupted

    def request_frame(self) -> None:
        """Draw the tasks as they are now, soon."""
        if self._app:
            self._app.request_frame()

    def refresh_entries(self) -> None:
        """Look at the tasks as they are now."""
        entries = {entry.info.task: entry for entry in self._list_entries()}
        self._rows = [row for row in list_rows([*entries.values()]) if fits_filter(row, self._filter)]
        if self._rows and (self._position < 0 or not self._has_chosen):
            self._selected = self._rows[0].task
        is_there = self._position >= 0
        self._actions.follow(entries[self._selected] if is_there else None)

    async def _redraw_ages(self, app: LiveApplication) -> None:
        while True:
            await asyncio.sleep(AGES)
            app.request_frame()

    @property
    def _position(self) -> int:
        """The place of the selected task; -1 if it is gone."""
        return next((at for at, row in enumerate(self._rows) if row.task == self._selected), -1)

    def _build_layout(self) -> Layout:
        def make_window(lines: Callable[[int, int], list[Fragments]], *, fills: bool = False) -> Window:
            def draw_lines() -> StyleAndTextTuples:
                size = get_app().output.get_size()
                foot = len(self._draw_foot(size.columns, size.rows)) + self._field.is_open()
                return join_lines(lines(size.columns, max(1, size.rows - 1 - foot)))

            control = FormattedTextControl(draw_lines, focusable=fills, show_cursor=False)
            return Window(control, wrap_lines=False, always_hide_cursor=True, dont_extend_height=not fills)

        tasks = make_window(self._draw_tasks, fills=True)
        card, foot = make_window(self._draw_card), make_window(self._draw_foot)
        layout = Layout(HSplit([make_window(self._draw_head), tasks, card, self._field.container, foot]), tasks)
        self._field.focus = lambda window: layout.focus(window or tasks)
        return layout

    def _draw_head(self, width: int, rows: int) -> list[Fragments]:
        counts = self._count_tasks()
        text = " · ".join(f"{counts[group]} {group.value}" for group in Group if counts[group])
        text = text or ("no task fits the filter" if self._filter else "no tasks yet")
        text += f" · filter: {self._filter} (Esc clears)" if self._filter else ""
        shown = cut_line(f"  {text}", width - len("◆ All tasks") - 1)
        return [[("class:accent", "◆ "), ("class:title", "All tasks"), ("class:quiet", shown)]]

    def _count_tasks(self) -> Counter[Group]:
        return Counter(row.group for row in list_tasks(self._rows))

    def _draw_foot(self, width: int, rows: int) -> list[Fragments]:
        notice: list[Fragments] = [[("class:warn", line)] for line in wrap_line(self.notice, width - 1)]
        keys = TYPING_KEYS if self._field.is_open() else next((one for one in KEYS if len(one) < width), KEYS[-1])
        return notice if self.notice else [[("class:quiet", cut_line(keys, width - 1))]]

    def _draw_card(self, width: int, rows: int) -> list[Fragments]:
        """The card of the selected task, in the rows that the list leaves; of a long one, in three of five."""
        if not self._card.is_shown:
            return []
        needed = min(len(self._list_lines(width)[0]), max(LEAST_ROWS, rows * 2 // 5))
        return self._card.draw(width, max(rows - needed, rows // 2))

    def _draw_tasks(self, width: int, rows: int) -> list[Fragments]:
        """The lines that fit, with the selected task among them."""
        rows = max(1, rows - len(self._draw_card(width, rows)))
        if not self._rows:
            return [[("class:quiet", cut_line(f"  {'' if self._filter else EMPTY}", width - 1))]]
        lines, first, last = self._list_lines(width)
        self._top = max(last - rows, min(self._top, first, len(lines) - rows), 0)
        return lines[self._top : self._top + rows]

    def _list_lines(self, width: int) -> tuple[list[Fragments], int, int]:
        """All lines of the list, and where those of the selected task begin and end."""
        lines: list[Fragments] = []
        first, last, now = 0, 0, time.time()
        counts = self._count_tasks()
        for above, row in zip((None, *self._rows), self._rows, strict=False):
            begins = above is None or above.group is not row.group
            if begins:
                lines += [[]] * bool(lines) + [[(STYLES[row.group], f"{row.group.value} ({counts[row.group]})")]]
            drawn = draw_row(row, width - 1, now)
            is_selected = row.task == self._selected
            if is_selected:
                first, last = len(lines) - begins, len(lines) + len(drawn)
            lines += [[("class:mark", "▌" if is_selected else " "), *line] for line in drawn]
        return lines, first, last

    def _bind_keys(self) -> KeyBindings:
        """Bind the keys of the list; those that the card wants, and a line that is typed, go before them."""
        keys = KeyBindings()
        for names, act in self._list_actions().items():
            for name in names:
                self._bind_key(keys, name, act, ~self._field.is_open)
        for key in string.ascii_letters + string.digits:
            wanted = Condition(partial(self._card.wants, key)) & ~self._field.is_open
            self._bind_key(keys, key, partial(self._press_card, key), wanted)
        goes_back = Condition(lambda: self._card.can_go_back) & ~self._field.is_open
        self._bind_key(keys, "escape", self._press_back, goes_back)
        self._bind_key(keys, "enter", partial(self._field.end, takes=True), self._field.is_open)
        for name in ("escape", "c-c"):
            self._bind_key(keys, name, partial(self._field.end, takes=False), self._field.is_open)
        return keys

    def _list_actions(self) -> dict[tuple[str, ...], Callable[[], object]]:
        moves = {"up": -1, "k": -1, "c-p": -1, "down": 1, "j": 1, "c-n": 1, "pageup": -10, "pagedown": 10}
        moves |= {"home": -1_000_000, "end": 1_000_000}
        actions: dict[tuple[str, ...], Callable[[], object]] = {
            (name,): partial(self._move, step) for name, step in moves.items()
        }
        return actions | {
            ("enter", "right"): self._open,
            ("tab",): self._select_waiting,
            (" ",): self._card.show_more,
            ("/",): self._type_filter,
            ("r",): partial(self._act_on_row, self._actions.resume),
            ("w",): self._show_worktree,
            ("x",): self._stop,
            ("escape",): self._clear_filter,
            ("q", "c-d"): self._quit,
            ("c-c",): partial(self._quit, needs_two=True),
        }

    def _bind_key(self, keys: KeyBindings, name: str, act: Callable[[], object], when: FilterOrBool) -> None:
        @keys.add(name, filter=when)
        def press(event: KeyPressEvent) -> None:
            self.notice, self._has_chosen = "", True
            if name not in _TWICE:
                self._again_until = 0.0
            act()
            self.refresh_entries()

    def _press_card(self, key: str) -> None:
        if self._card.card:
            self._card.card.press(key)

    def _press_back(self) -> None:
        if self._card.card:
            self._card.card.stop()

    def _before_key(self) -> None:
        """A key that another one follows at once is part of a word, and decides nothing."""
        if self._card.card:
            self._card.card.release()

    def _after_key(self) -> None:
        if self._card.card:
            self._card.card.note_key()

    def _move(self, step: int) -> None:
        if self._rows:
            at = max(0, min(self._position + step, len(self._rows) - 1))
            self._selected = self._rows[at].task

    def _select_waiting(self) -> None:
        """Select the next task that needs a person."""
        waiting = [row.task for row in list_tasks(self._rows) if row.group is Group.NEEDS_YOU]
        if waiting:
            at = waiting.index(self._selected) + 1 if self._selected in waiting else 0
            self._selected = waiting[at % len(waiting)]

    def _open(self) -> None:
        if self._position >= 0:
            self._opened = self._selected
            self._exit()

    def _act_on_row(self, act: Callable[[BoardRow], None]) -> None:
        if self._position >= 0:
            act(self._rows[self._position])

    def _show_worktree(self) -> None:
        """Show the worktree of the selected task; if it has none, that of its first agent with one."""
        row = self._rows[self._position] if self._position >= 0 else None
        if row and not row.work:
            row = next((one for one in self._rows if one.work and one.parent == row.task), row)
            self._selected = row.task
        if row:
            self._actions.show_worktree(row)

    def _stop(self) -> None:
        """Stop the selected task, when pressed twice."""
        row = self._rows[self._position] if self._position >= 0 else None
        if row is None or not row.process or row.group is Group.ENDED:
            self.notice = "It does not run."
        elif time.monotonic() <= self._again_until:
            self._again_until = 0.0
            self._actions.stop(row)
        else:
            self._again_until = time.monotonic() + AGAIN
            self.notice = f"Press x again to stop: {row.title}"

    def _type_filter(self) -> None:
        self._typing = asyncio.create_task(self._read_filter())

    async def _read_filter(self) -> None:
        if await self._field.read("Filter: ", self._filter, self._filter_by) is None:
            self._filter_by("")

    def _filter_by(self, words: str) -> None:
        self._filter, self._has_chosen = words, False
        self.refresh_entries()
        self.request_frame()

    def _clear_filter(self) -> None:
        if self._filter:
            self._filter_by("")
        else:
            self._quit()

    def _quit(self, *, needs_two: bool = False) -> None:
        """Leave the board; when pressed twice, if tasks work in this process or the key `needs_two`."""
        working, now = self._count_working(), time.monotonic()
        if not (working or needs_two) or now <= self._again_until:
            self._exit()
            return
        self._again_until = now + AGAIN
        self.notice = f"{format_plural(working, 'task')} of the board would be interrupted. " if working else ""
        self.notice += LEAVE_HINT

    def _end_by(self, number: int) -> None:
        self.signal = number
        self._exit()

    def _exit(self) -> None:
        if self._app:
            self._app.exit()
