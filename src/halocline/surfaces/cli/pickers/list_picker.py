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
from halocline.protocol.values import Value
from halocline.surfaces import event_loop
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.application.activity import Fragments, cut_line
from halocline.surfaces.terminal.application.application import LiveApplication
from halocline.surfaces.terminal.application.choice_lines import draw_choices
from halocline.surfaces.terminal.application.layout import LivePanes, build_style
from halocline.surfaces.terminal.composing.prompt import type_keys

FILTER_HINT = "Type to filter"
KEY_HINT = "↑↓ choose · Enter pick · Esc cancel"
PAGE = 8
"""Entries that PageUp and PageDown move by, and the most that are shown."""


class PickerEntry(Value, frozen=True):
    """An entry by its `key`. What is typed is looked for in all three texts."""

    key: str
    name: str
    facts: str = ""

    def has_words(self, words: str) -> bool:
        text = f"{self.key} {self.name} {self.facts}".casefold()
        return all(word in text for word in words.casefold().split())

    def rank(self, words: str) -> int:
        """Rank what was typed: exactly this one, the beginning of its key or name, or anything else."""
        names = (self.key.casefold(), self.name.casefold())
        return 0 if words in names else 1 if any(name.startswith(words) for name in names) else 2


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
        self._entries = entries
        self._fitting = entries
        self._selected = 0
        self._theme = theme
        self._is_over = False
        self._filter = Buffer(multiline=False, on_text_changed=lambda buffer: self._apply_filter())
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
        return self._fitting[self._selected] if self._is_over else None

    def _apply_filter(self) -> None:
        fitting = [entry for entry in self._entries if entry.has_words(self._filter.text)]
        self._fitting = sorted(fitting, key=lambda entry: entry.rank(self._filter.text.strip().casefold()))
        self._selected = 0

    def _move(self, step: int) -> None:
        """Move by one around the end, or by more up to it."""
        if count := len(self._fitting):
            at = self._selected + step
            self._selected = at % count if abs(step) == 1 else max(0, min(at, count - 1))

    def _pick(self) -> None:
        if self._fitting:
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
            bind(name, partial(self._move, step))
        bind("enter", self._pick)
        for name in ("escape", "c-c", "c-d"):
            bind(name, self._app.exit)

        @keys.add("c-z")
        async def suspend(event: KeyPressEvent) -> None:
            await self._app.suspend()

        @keys.add(Keys.BracketedPaste)
        def paste(event: KeyPressEvent) -> None:
            self._filter.insert_text(" ".join(clean(event.data).split()))

        return keys

    def _list_above(self, width: int, rows: int) -> list[Fragments]:
        count = f"  {len(self._fitting)} of {len(self._entries)}" if self._filter.text else ""
        title = cut_line(self._title, width - len(count) - 3)
        return [[("class:accent", "? "), ("class:title", title), ("class:quiet", count)]][: max(0, rows)]

    def _list_below(self, width: int, rows: int) -> list[Fragments]:
        choices = [(entry.name, entry.facts) for entry in self._fitting]
        hint: list[Fragments] = [[("class:quiet", cut_line(f"  {KEY_HINT}", width - 1))]] if rows > 2 else []
        room = min(rows - len(hint), PAGE)
        shown = draw_choices(choices, self._selected, width, room, mark="❯ ")
        return [*(shown or [[("class:quiet", "  Nothing matches.")]]), *hint]
