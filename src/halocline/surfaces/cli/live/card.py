"""The options of an approval or a question that waits, as lines of the live screen."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from rich.cells import cell_len

from halocline.surfaces.cli.live.decision_keys import BEAT, NONE, CalmClock, DecisionKeys
from halocline.surfaces.sanitize import reveal
from halocline.surfaces.terminal.application.activity import Fragments, cut_line
from halocline.surfaces.terminal.asking.menu import ESCAPE, Brief, find_option
from halocline.surfaces.wrapping import wrap_line

SAFE_KEYS = ("n",)
"""Options that are selected at first: they allow nothing. Where there are none, nothing is selected."""
LONGEST_TITLE = 300


class Card:
    """Options with their labels. `answer` gets the chosen key; `redraw` asks for a frame.

    `selected` is the option that is selected at first, in place of a safe one; with None, nothing is. With
    `takes_words`, a line that is sent while it waits is an answer to it and nothing else. `by_key`: arrows and Enter
    belong to something else.
    """

    def __init__(
        self,
        title: str,
        options: Mapping[str, str],
        redraw: Callable[[], None],
        selected: str | None = "",
        *,
        takes_words: bool = False,
        by_key: bool = False,
    ) -> None:
        self.takes_words = takes_words
        self._by_key = by_key
        self.title = " ".join(reveal(title[:LONGEST_TITLE]).split())
        self._options = dict(options)
        keys = list(self._options)
        wanted = () if selected is None else (selected, *SAFE_KEYS)
        first = next((keys.index(key) for key in wanted if key in keys), NONE)
        self._clock = CalmClock()
        self._keys = DecisionKeys(keys, first, self._clock.now())
        self.since = time.monotonic()
        self._is_armed = False
        self._is_newest: Callable[[], bool] = lambda: True
        self._hidden: set[str] = set()
        self._redraw = redraw
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[str] = self._loop.create_future()
        self._loop.call_later(BEAT, self._look)

    def wants(self, key: str, *, has_text: bool) -> bool:
        """True if a key is for the card and not for the composer."""
        return self._keys.wants(key, self._clock.now(), has_text=has_text)

    def press(self, key: str, is_newest: Callable[[], bool] = lambda: True) -> None:
        """Take a key that the card wants. One of an option that is not shown only moves to it.

        `is_newest` tells whether no other key arrived since, even one that is not handled yet.
        """
        self._is_newest = is_newest
        if len(key) == 1 and (option := self._keys.option_of(key)) in self._hidden:
            self._keys.selected = list(self._options).index(option)
            return
        self._keys.press(key, self._clock.now())

    def note_key(self) -> None:
        """Take note of any key: a decision needs silence after it."""
        self._keys.note_key(self._clock.now())

    def release(self) -> str:
        """Give back a held key as text, because another key follows it."""
        return self._keys.release()

    def stop(self) -> None:
        """Choose the option of Escape, which allows nothing and needs no silence."""
        self._answer_with(ESCAPE)

    def take_line(self, text: str) -> bool:
        """Choose the option that a typed line names; False if it names none."""
        key = find_option(text, self._options)
        if key is not None:
            self._answer_with(key)
        return key is not None

    def _look(self) -> None:
        """Let a held key decide, and show whether keys count now."""
        if self.answer.done():
            return
        now = self._clock.now()
        if self._is_newest() and (key := self._keys.decide(now)):
            self._answer_with(key)
            return
        if self._is_armed is not self._keys.is_armed(now):
            self._is_armed = not self._is_armed
            self._redraw()
        self._loop.call_later(BEAT, self._look)

    def _answer_with(self, key: str) -> None:
        if not self.answer.done():
            self.answer.set_result(key)
        self._redraw()

    def lines(self, width: int, rows: int, *, has_text: bool) -> list[Fragments]:
        """The question, the options and how to choose. Where there is no room for all, those around the selected."""
        is_open = self._keys.is_chosen or not has_text
        keys, at = list(self._options), max(0, self._keys.selected)
        brief = [key for key in keys if isinstance(self._options[key], Brief)]
        brief = [] if is_open and keys[at] in brief else brief
        options = [self._option_lines(place, width, is_open=is_open) for place in range(len(keys) - len(brief))]
        options += [self._brief_lines(brief, width)] if brief else []
        first, last = fit_around([len(lines) for lines in options], at, max(1, rows - 2))
        shown_keys = [*keys[: len(keys) - len(brief)], *(["…"] if brief else [])][first:last]
        self._hidden = {*keys} - {*shown_keys} - ({*brief} if "…" in shown_keys else set[str]())
        hint = self._hint(is_open=is_open)
        if self._hidden:
            hint = f"{len(self._hidden)} more: ↑↓ · {hint}"
        title: list[Fragments] = []
        if self.title:
            title = [[("class:accent", "? "), ("class:title", cut_line(self.title, width - 3))]]
        shown = [line for lines in options[first:last] for line in lines]
        return [*title, *shown, [("class:quiet", cut_line(f"  {hint}", width - 1))]][: max(1, rows)]

    def _brief_lines(self, keys: Sequence[str], width: int) -> list[Fragments]:
        """The options that are seldom wanted, one after the other, as many in a row as fit."""
        rows: list[Fragments] = [[("class:quiet", "  …  ")]]
        used = 5
        for key in keys:
            name, label = "esc" if key == ESCAPE else key, reveal(self._options[key])
            needed = cell_len(name) + cell_len(label) + 4
            if used > 5 and used + needed > width - 1:
                rows.append([("", "     ")])
                used = 5
            between = "  " if used > 5 else " "
            rows[-1] += [("class:accent", f"{between}{name} "), ("class:quiet", label)]
            used += needed - (used == 5)
        return rows

    def _option_lines(self, at: int, width: int, *, is_open: bool) -> list[Fragments]:
        """An option with its whole label, in as many rows as it needs."""
        key, label = list(self._options.items())[at]
        is_selected = at == self._keys.selected and is_open
        style = "class:title" if is_selected else ("" if is_open else "class:quiet")
        name = f"{'esc' if key == ESCAPE else key:<4}"
        text = wrap_line(reveal(label).replace("\n", "␊"), max(8, width - 8))
        first: Fragments = [("class:accent", f"{'❯ ' if is_selected else '  '}{name}"), (style, text[0])]
        return [first, *([("", "      "), (style, more)] for more in text[1:])]

    def _hint(self, *, is_open: bool) -> str:
        if not is_open:
            return "Tab: choose here; your text stays"
        if not self._is_armed:
            return "…"
        if self._by_key:
            return "its key decides"
        return "a key, or ↑↓ and Enter" if self._keys.selected == NONE else "Enter, ↑↓ or a key"


def fit_around(heights: Sequence[int], at: int, room: int) -> tuple[int, int]:
    """Begin and end of the entries around one of them that fit into so many rows."""
    first, last = at, at + 1
    while True:
        used = sum(heights[first:last])
        if last < len(heights) and used + heights[last] <= room:
            last += 1
        elif first and used + heights[first - 1] <= room:
            first -= 1
        else:
            return first, last
