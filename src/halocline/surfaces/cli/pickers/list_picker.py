"""A list to pick from outside a conversation, drawn by the parts of the live screen.

The arrow keys choose, typing filters, Enter picks, Escape cancels.

What must stay true: what was typed before the list was there only filters; it picks nothing.
"""

from collections.abc import Callable, Sequence
from functools import partial

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from halocline.client.themes import Theme
from halocline.surfaces import event_loop
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.application.application import LiveApplication
from halocline.surfaces.terminal.application.choice_list import FILTER_HINT, PAGE, ChoiceList, PickerEntry
from halocline.surfaces.terminal.application.layout import LivePanes, build_style
from halocline.surfaces.terminal.composing.prompt import type_keys
from halocline.surfaces.wrapping import Fragments, cut_line


def pick_entry(title: str, entries: Sequence[PickerEntry], theme: Theme) -> str:
    """Let the person pick, and return the key. Raises KeyboardInterrupt when the person cancels."""
    picked = event_loop.run_loop(ListPicker(title, entries, theme).run())
    if picked is None:
        raise KeyboardInterrupt
    return picked.key


class ListPicker:
    """Owns the terminal from `run` to its end, and leaves nothing on it."""

    def __init__(self, title: str, entries: Sequence[PickerEntry], theme: Theme) -> None:
        self._title = title
        self._choices = ChoiceList(entries)
        self._theme = theme
        self._is_over = False
        self._filter = Buffer(multiline=False, on_text_changed=lambda buffer: self._choices.apply_filter(buffer.text))
        self._app = LiveApplication(lambda: None)

    async def run(self) -> PickerEntry | None:
        """Return the entry that is picked; None when the person cancels."""
        panes = LivePanes(self._filter, self._list_above, self._list_below, lambda: "› ", lambda: FILTER_HINT)
        self._app.choose_style(build_style(self._theme))
        await self._app.start(panes.build_layout(), self._bind_keys(), lambda: None, lambda: None)
        try:
            self._filter.insert_text(" ".join(type_keys("", self._app.typed_before).split()))
            await self._app.wait()
        finally:
            await self._app.stop()
        return self._choices.picked if self._is_over else None

    def _pick(self) -> None:
        if self._choices.picked:
            self._is_over = True
            self._app.exit()

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()
        moves = {"up": -1, "c-p": -1, "s-tab": -1, "down": 1, "c-n": 1, "tab": 1, "pageup": -PAGE, "pagedown": PAGE}

        def bind(name: str, act: Callable[[], object]) -> None:
            @keys.add(name)
            def press(event: KeyPressEvent) -> None:
                act()

        for name, step in moves.items():
            bind(name, partial(self._choices.move, step))
        bind("enter", self._pick)
        for name in ("escape", "c-c", "c-d"):
            bind(name, self._app.exit)

        @keys.add(Keys.BracketedPaste)
        def paste(event: KeyPressEvent) -> None:
            self._filter.insert_text(" ".join(clean(event.data).split()))

        return keys

    def _list_above(self, width: int, rows: int) -> list[Fragments]:
        count = f"  {self._choices.describe_count()}" if self._filter.text else ""
        title = cut_line(self._title, width - len(count) - 3)
        return [[("class:accent", "? "), ("class:title", title), ("class:quiet", count)]][: max(0, rows)]

    def _list_below(self, width: int, rows: int) -> list[Fragments]:
        return self._choices.draw_lines(width, rows)
