"""A list to pick from: typing filters, arrows choose. The owner of the terminal draws it."""

from collections.abc import Sequence

from halocline.protocol.values import Value
from halocline.surfaces.terminal.application.activity import Fragments, cut_line
from halocline.surfaces.terminal.application.choice_lines import draw_choices

FILTER_HINT = "Type to filter"
KEY_HINT = "↑↓ choose · Enter pick · Esc cancel"
PAGE = 8
"""Entries that PageUp and PageDown move by."""
NONE = -1


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
