"""A list to pick from: typing filters, arrows choose. The owner of the terminal draws it."""

from collections.abc import Sequence

from rich.cells import cell_len

from halocline.protocol.values import Value
from halocline.surfaces.wrapping import Fragments, cut_line

FILTER_HINT = "Type to filter"
KEY_HINT = "↑↓ choose · Enter pick · Esc cancel"
PAGE = 8
"""Entries that PageUp and PageDown move by."""
NONE = -1
NARROW = 60
"""Columns below which the meaning may stand below its name."""


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


class ChoiceList:
    """The entries that fit what is typed, and the selected one.

    At first `selected` is, of all; with None no entry is, and Enter alone picks none.
    """

    def __init__(self, entries: Sequence[PickerEntry], selected: int | None = 0) -> None:
        self._entries = entries
        self._fitting = entries
        self._first = NONE if selected is None else selected
        self._selected = self._first

    def apply_filter(self, text: str) -> None:
        """Keep the entries that have all typed words, those that begin with them first."""
        words = text.strip().casefold()
        fitting = [entry for entry in self._entries if entry.has_words(words)]
        self._fitting = sorted(fitting, key=lambda entry: entry.rank(words)) if words else fitting
        self._selected = 0 if words else self._first

    def move(self, step: int) -> None:
        """Move by one around the end, or by more up to it."""
        if count := len(self._fitting):
            at = self._selected + step + (self._selected == NONE and step < 0)
            self._selected = at % count if abs(step) == 1 else max(0, min(at, count - 1))

    @property
    def picked(self) -> PickerEntry | None:
        """The selected entry; None if no entry fits or none is selected."""
        return self._fitting[self._selected] if self._fitting and self._selected != NONE else None

    def describe_count(self) -> str:
        """The number of entries that fit, of all."""
        return f"{len(self._fitting)} of {len(self._entries)}"

    def draw_lines(self, width: int, rows: int) -> list[Fragments]:
        """The entries around the selected one, and the keys, in at most so many rows."""
        choices = [(entry.name, entry.facts) for entry in self._fitting]
        hint: list[Fragments] = [[("class:quiet", cut_line(f"  {KEY_HINT}", width - 1))]] if rows > 2 else []
        selected = None if self._selected == NONE else self._selected
        shown = draw_choices(choices, selected, width, max(1, rows - len(hint)), mark="❯ ")
        return [*(shown or [[("class:quiet", "  Nothing matches.")]]), *hint]


def draw_choices(
    choices: Sequence[tuple[str, str]], selected: int | None, width: int, rows: int, *, mark: str = "  "
) -> list[Fragments]:
    """Draw as many choices as fit. The selected one has the `mark`; with one, narrow screens get two lines for each."""
    is_stacked = bool(mark.strip()) and width < NARROW and rows > 3
    most = max(1, rows // 2 if is_stacked else rows)
    first = max(0, min((selected or 0) - most // 2, len(choices) - most))
    shown = choices[first : first + most]
    widest = min(max(map(cell_len, (name for name, _ in shown)), default=0), width // 2)
    lines: list[Fragments] = []
    for number, (name, meaning) in enumerate(shown, first):
        style, sign = ("class:mark", mark) if number == selected else ("", "  ")
        if is_stacked:
            lines += [
                [(style, sign + cut_line(name, width - 3))],
                [("class:quiet", f"    {cut_line(meaning, width - 5)}")],
            ]
            continue
        cut = cut_line(name, widest)
        beside = cut_line(meaning, max(1, width - widest - 6))
        lines.append([(style, sign + cut + " " * (widest - cell_len(cut))), ("class:quiet", f"  {beside}")])
    return lines
