"""The options of an approval or a question that waits, as lines of the live screen."""

import asyncio
import time
from collections.abc import Callable, Mapping

from halocline.surfaces.cli.input.keys import ESCAPE
from halocline.surfaces.cli.live.activity import Fragments, cut_line
from halocline.surfaces.cli.live.decision_keys import ALONE, SILENCE, DecisionKeys
from halocline.surfaces.sanitize import reveal

SAFE_KEYS = ("n",)
"""Options that are selected at first where there are any: they allow nothing."""
LONGEST_TITLE = 300


class Card:
    """Options with their labels. `answer` gets the chosen key; `redraw` asks for a frame."""

    def __init__(self, title: str, options: Mapping[str, str], redraw: Callable[[], None]) -> None:
        self.title = " ".join(reveal(title[:LONGEST_TITLE]).split())
        self._options = {key: label for key, label in options.items() if label}
        keys = list(self._options)
        selected = next((keys.index(key) for key in SAFE_KEYS if key in keys), len(keys) - 1 if "y" in keys else 0)
        self._keys = DecisionKeys(keys, selected, time.monotonic())
        self._redraw = redraw
        self._loop = asyncio.get_running_loop()
        self._loop.call_later(SILENCE, redraw)
        self.answer: asyncio.Future[str] = self._loop.create_future()

    def wants(self, key: str, *, has_text: bool) -> bool:
        """True if a key is for the card and not for the composer."""
        return self._keys.wants(key, time.monotonic(), has_text=has_text)

    def press(self, key: str) -> None:
        """Take a key that the card wants."""
        self._keys.press(key, time.monotonic())
        self._loop.call_later(ALONE + 0.01, self._decide)

    def note_key(self) -> None:
        """Take note of any key: a decision needs silence after it."""
        self._keys.note_key(time.monotonic())
        self._loop.call_later(SILENCE, self._redraw)

    def release(self) -> str:
        """Give back a held key as text, because another key follows it."""
        return self._keys.release()

    def stop(self) -> None:
        """Choose the option of Escape, which allows nothing and needs no silence."""
        self._answer_with(ESCAPE)

    def _decide(self) -> None:
        if key := self._keys.decide(time.monotonic()):
            self._answer_with(key)

    def _answer_with(self, key: str) -> None:
        if not self.answer.done():
            self.answer.set_result(key)
        self._redraw()

    def lines(self, width: int, *, has_text: bool) -> list[Fragments]:
        """The question, the options and how to choose."""
        is_open = self._keys.is_chosen or not has_text
        shown: list[Fragments] = [[("class:accent", "? "), ("class:title", cut_line(self.title, width - 3))]]
        for at, (key, label) in enumerate(self._options.items()):
            is_selected = at == self._keys.selected and is_open
            name = "esc" if key == ESCAPE else key
            mark = "❯ " if is_selected else "  "
            style = "class:title" if is_selected else ("" if is_open else "class:quiet")
            text = cut_line(f"{name:<4}{label}", width - 3)
            shown.append([("class:accent", mark), (style, text)])
        return [*shown, [("class:quiet", cut_line(f"  {self._hint(is_open=is_open)}", width - 1))]]

    def _hint(self, *, is_open: bool) -> str:
        if not is_open:
            return "Tab: choose here; your text stays"
        return "↑↓ and Enter, or a key" if self._keys.is_armed(time.monotonic()) else "…"
