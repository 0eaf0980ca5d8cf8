"""Keys that may decide while a card waits: pure, driven by the time of each key.

What must stay true: a key decides only when it is pressed alone, with silence before and after it, and not while text
stands in the composer, unless the person went to the card. Every other key belongs to the composer.
"""

import time
from collections.abc import Callable, Sequence

SILENCE = 0.7
"""Seconds without a key, since the card appeared and since the last key, before a key can decide."""
ALONE = 0.3
"""Seconds without a key after one that decides; within a word, the next key follows sooner."""

BEAT = 0.1
"""Seconds between two looks at the clock, as long as a card waits."""
LONGEST_STEP = 0.15
"""Most seconds that count between two looks."""

NONE = -1
"""Stands for no selected option: Enter chooses nothing then."""
ENTER, UP, DOWN, TAB = "\r", "up", "down", "tab"


class DecisionKeys:
    """The keys of one card: `keys` are those of its options in their order, of which one is selected."""

    def __init__(self, keys: Sequence[str], selected: int, now: float) -> None:
        self.keys = tuple(keys)
        self.selected = selected
        self.is_chosen = False
        self._last = now
        self._held = ""
        self._held_at = 0.0
        self._is_taken = False

    def is_armed(self, now: float) -> bool:
        """True if a key pressed now can decide."""
        return now - self._last >= SILENCE

    def wants(self, key: str, now: float, *, has_text: bool) -> bool:
        """True if a key is for the card, given whether the composer has text."""
        if key == TAB:
            return has_text
        if has_text and not self.is_chosen:
            return False
        return key in (UP, DOWN) or (self._names_option(key) and self.is_armed(now))

    def press(self, key: str, now: float) -> None:
        """Take a key that is wanted: it moves, or is held until it is known to be alone."""
        self._is_taken = True
        match key:
            case "tab":
                self.is_chosen = not self.is_chosen
            case "up" | "down" if self.selected == NONE:
                self.selected = 0 if key == DOWN else len(self.keys) - 1
            case "up" | "down":
                self.selected = (self.selected + (1 if key == DOWN else -1)) % len(self.keys)
            case _:
                self._held, self._held_at = key, now

    def note_key(self, now: float) -> None:
        """Begin the silence again, after every key. One for the composer leaves the card."""
        self._last = now
        self.is_chosen = self.is_chosen and self._is_taken
        self._is_taken = False

    def release(self) -> str:
        """Another key came: give back the held key as text for the composer. Enter alone was no text."""
        held, self._held = self._held, ""
        return "" if held == ENTER else held

    def decide(self, now: float) -> str | None:
        """Return the option of the held key, once it was alone for long enough."""
        if not self._held or now - self._held_at < ALONE:
            return None
        held, self._held = self._held, ""
        return self.option_of(held)

    def _names_option(self, key: str) -> bool:
        if key == ENTER:
            return self.selected != NONE
        return key.lower() in self.keys or (key.isdecimal() and 0 < int(key) <= len(self.keys))

    def option_of(self, key: str) -> str:
        """Return the option that a key names."""
        if key == ENTER:
            return self.keys[self.selected]
        return key.lower() if key.lower() in self.keys else self.keys[int(key) - 1]


class CalmClock:
    """Time as a person at the keyboard sees it, looked at every `BEAT` seconds.

    While the program is busy it stands still: keys typed then arrive together afterwards, and the first of them would
    come after a silence that never was.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen = clock()
        self._calm = 0.0

    def now(self) -> float:
        """Return the seconds since the start that count."""
        seen = self._clock()
        self._calm += min(seen - self._seen, LONGEST_STEP)
        self._seen = seen
        return self._calm
