"""Index the lines of a text once, so that any number of edits find their places without reading it again.

For each form in which lines are compared (as they are, trimmed, folded) every distinct line gets one character. The
file becomes a string of these characters, in which a block of lines is found by substring search.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from halocline.edits.text import LF

Form = Callable[[str], str]
MOST = 100
"""The number of places at which counting stops."""
_LAST = 0x10FFFF


def text_before(view: str, at: int) -> str:
    """Return what is before a position in its line."""
    return view[view.rfind("\n", 0, at) + 1 : at]


class Lines:
    """The lines of a view. The last one is empty when the view ends in a newline."""

    def __init__(self, view: str) -> None:
        self.view = view
        self.texts = view.split(LF)
        self.starts = list(accumulate((len(text) + 1 for text in self.texts), initial=0))
        self._coded: dict[Form, Coded] = {}

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def count(self) -> int:
        """The number of lines, as a person counts them: a final newline adds none."""
        return len(self.texts) - (self.texts[-1] == "")

    def number(self, position: int) -> int:
        """Return the line (from 1) of a position."""
        return min(bisect_right(self.starts, position), len(self.texts))

    def end(self, line: int) -> int:
        """Return the position where a line (from 0) ends, before its newline."""
        return self.starts[line + 1] - 1

    def in_form(self, form: Form) -> "Coded":
        """Return the lines in a form; built on first use."""
        if form not in self._coded:
            self._coded[form] = Coded(self.texts, form)
        return self._coded[form]


class Coded:
    """Lines in one form, searchable as a string."""

    def __init__(self, texts: Sequence[str], form: Form) -> None:
        self.lines = [form(text) for text in texts]
        self.form = form
        codes: dict[str, str] = {}
        for line in self.lines:
            if line not in codes:
                codes[line] = chr(min(len(codes), _LAST))
        self._codes = codes
        self._text = "".join([codes[line] for line in self.lines])

    def places(self, search: Sequence[str], low: int = 0, high: int | None = None) -> list[int]:
        """Return the lines (from 0) at which `search` starts, from `low` up to `high`; at most `MOST`."""
        wanted = [self.form(line) for line in search]
        if any(line not in self._codes for line in wanted):
            return []
        needle = "".join([self._codes[line] for line in wanted])
        found: list[int] = []
        at = self._text.find(needle, low, high)
        while at >= 0 and len(found) < MOST:
            if self.lines[at : at + len(wanted)] == wanted:  # beyond the last code, different lines share one
                found.append(at)
            at = self._text.find(needle, at + 1, high)
        return found

    def holds(self, line: str) -> bool:
        """Return True if the text has this line, in this form."""
        return self.form(line) in self._codes
