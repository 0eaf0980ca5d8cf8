"""The options of an approval or a question that waits, as lines of the live screen."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from rich.cells import cell_len

from halocline.surfaces.cli.live.decision_keys import BEAT, ENTER, NONE, CalmClock, DecisionKeys, Opener
from halocline.surfaces.sanitize import reveal
from halocline.surfaces.terminal.asking.menu import ESCAPE, NO_ANSWER, Brief, Kind, TypedAnswer, find_option
from halocline.surfaces.wrapping import Fragments, cut_line, wrap_line

SAFE_KEYS = ("n",)
"""Options that are selected at first: they allow nothing. Where there are none, nothing is selected."""
LONGEST_TITLE = 300
FEW_ROWS = 8
TOO_EARLY = "Not sent: you typed while this question appeared. Enter again answers it."
"""Said when a line that would answer a card was begun without having seen it."""


class Card:
    """Options with their labels. `answer` gets the chosen key or the typed answer; `redraw` asks for a frame.

    A second line of the title says what would be done.

    `selected` is the option that is selected at first, in place of a safe one; with None, nothing is. `by_key`: arrows
    and Enter belong to something else.
    """

    def __init__(
        self,
        title: str,
        options: Mapping[str, str],
        redraw: Callable[[], None],
        selected: str | None = "",
        kind: Kind = Kind.ORDINARY,
        opener: Opener = Opener.PROGRAM,
        *,
        by_key: bool = False,
    ) -> None:
        self.kind = kind
        self._by_key = by_key
        title, _, effect = title.partition("\n")
        self.title, self._effect = (" ".join(reveal(text[:LONGEST_TITLE]).split()) for text in (title, effect))
        self._options = dict(options)
        keys = list(self._options)
        wanted = () if selected is None else (selected, *SAFE_KEYS)
        first = next((keys.index(key) for key in wanted if key in keys), NONE)
        self._clock = CalmClock()
        self._keys = DecisionKeys(keys, first, self._clock.now(), kind, opener)
        self.since = time.monotonic()
        self._is_armed = False
        self._hidden: set[str] = set()
        self._redraw = redraw
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[str] = self._loop.create_future()
        self._loop.call_later(BEAT, self._look)

    def wants(self, key: str, *, has_text: bool) -> bool:
        """True if a key is for the card and not for the composer."""
        return self._keys.wants(key, self._clock.now(), has_text=has_text)

    def press(self, key: str, repeats: str = "") -> bool:
        """Take a key that the card wants, with its `repeats` before. One of an option that is not shown moves to it.

        True if it may decide.
        """
        if len(key) == 1 and (option := self._keys.option_of(key)) in self._hidden:
            self._keys.selected = list(self._options).index(option)
            return False
        self._keys.press(key, self._clock.now(), repeats)
        self._loop.call_soon(self._decide)
        return True

    def note_key(self, *, has_text: bool = False) -> None:
        """Take note of any key: a decision needs silence around it. `has_text`: the composer had some before it."""
        self._keys.note_key(self._clock.now(), has_text=has_text)

    def release(self) -> str:
        """Give back a held key as text, because another key follows it."""
        return self._keys.release()

    def stop(self) -> None:
        """Choose the option of Escape, which allows nothing and needs no silence."""
        self._answer_with(ESCAPE)

    def take_line(self, text: str) -> str | None:
        """Answer with a typed line. Returns why it stays, or an empty text; None if it may be sent elsewhere."""
        key = find_option(text, self._options, self.kind)
        if key is None and self.kind is not Kind.QUESTION:
            return NO_ANSWER if self.kind is Kind.OWN else None
        if not self._keys.takes_line(text, self._clock.now()):
            return TOO_EARLY
        self._answer_with(key or TypedAnswer(text))
        return ""

    def _look(self) -> None:
        """Let a held key decide, and show whether keys count now."""
        self._decide()
        if self.answer.done():
            return
        if self._is_armed is not self._keys.is_armed(self._clock.now()):
            self._is_armed = not self._is_armed
            self._redraw()
        self._loop.call_later(BEAT, self._look)

    def _decide(self) -> None:
        if not self.answer.done() and (key := self._keys.decide(self._clock.now())):
            self._answer_with(key)

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
        head = self._head_lines(width, rows)
        room = max(1, rows - 1 - len(head))
        first, last = fit_around([len(lines) for lines in options], min(at, len(options) - 1), room)
        shown_keys = [*keys[: len(keys) - len(brief)], *(["…"] if brief else [])][first:last]
        self._hidden = {*keys} - {*shown_keys} - ({*brief} if "…" in shown_keys else set[str]())
        hint = self._hint(is_open=is_open)
        if self._hidden:
            hint = f"{len(self._hidden)} more: ↑↓ · {hint}"
        shown = [line for lines in options[first:last] for line in lines]
        return [*head, *shown, [("class:quiet", cut_line(f"  {hint}", width - 1))]][: max(1, rows)]

    def _head_lines(self, width: int, rows: int) -> list[Fragments]:
        """The question, and what would be done: in two rows at most, and where there are few, in one."""
        lines: list[Fragments] = []
        if self.title:
            lines.append([("class:accent", "? "), ("class:title", cut_line(self.title, width - 3))])
        if self._effect:
            style = "class:warn" if self.kind is Kind.GRAVE else "class:quiet"
            first, *others = wrap_line(self._effect, width - 3)
            told = [first, cut_line(" ".join(others), width - 3)] if others and rows > FEW_ROWS else [first]
            lines += [[(style, f"{mark} {text}")] for mark, text in zip("→ ", told, strict=False)]
        return lines[: max(0, rows - 2)]

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
            typed = "Enter answers with your text · " if self.kind is Kind.QUESTION else ""
            return f"{typed}Tab: choose here; your text stays"
        if self._keys.held not in ("", ENTER):
            return f"{self._keys.held} …"
        if not self._is_armed:
            return "keys count in a moment …"
        if self._by_key:
            return "its key decides"
        typed = " · or type your answer" if self.kind is Kind.QUESTION else ""
        return f"a key, or ↑↓ and Enter{typed}" if self._keys.selected == NONE else "Enter, ↑↓ or a key"


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
