"""Keys that may decide while a card waits: pure, driven by the time of each key. `wait_after` alone says which count.

What must stay true: who types without looking decides nothing. A key of text decides only in silence before and after
it, and not while text stands in the composer, unless the person went to the card. Other keys belong to the composer.
"""

import time
from collections.abc import Callable, Sequence
from enum import Enum

from halocline.surfaces.terminal.asking.menu import Kind

SILENCE = 0.7
"""Seconds without a key, since the card appeared and since the last key, before a key can decide."""
GLANCE = 0.15
"""The same where the person's own key just opened the card: one press that bounces does not decide twice."""
ALONE = 0.3
"""Seconds without a key after one of text that decides; within a word, the next key follows sooner."""

BEAT = 0.05
"""Seconds between two looks at the clock, as long as a card waits."""
LONGEST_STEP = 0.15
"""Most seconds that count between two looks."""

NONE = -1
"""Stands for no selected option: Enter chooses nothing then."""
ENTER, UP, DOWN, TAB = "\r", "up", "down", "tab"
LINE = "line"
"""Stands for Enter behind typed text; its silence is the one before the first character, negative if that is older."""
AIMED = "aimed"
"""Stands for Enter right after an arrow that counted."""


class Opener(Enum):
    """Who opened a card: the program, at any time, or a key of the person a moment ago."""

    PROGRAM = SILENCE
    PERSON = GLANCE


def wait_after(kind: Kind, opener: Opener, key: str, silence: float) -> float | None:
    """Return the seconds without another key after which a key decides; None if it decides nothing.

    `silence` is how long no key had come before it, since the card appeared. A key of text that came too early may
    make up for that afterwards, but not where the decision is grave.
    """
    needed = SILENCE if kind is Kind.GRAVE else opener.value
    match key:
        case "up" | "down" | "aimed":
            return 0.0
        case "\r":
            return 0.0 if silence >= needed else None
        case "line":
            return 0.0 if silence >= (0.0 if needed == GLANCE else needed) else None
        case _ if kind is Kind.GRAVE and silence < needed:
            return None
        case _:
            return ALONE + max(0.0, needed - silence)


class DecisionKeys:
    """The keys of one card: `keys` are those of its options in their order, of which one is selected."""

    def __init__(
        self,
        keys: Sequence[str],
        selected: int,
        now: float,
        kind: Kind = Kind.ORDINARY,
        opener: Opener = Opener.PROGRAM,
    ) -> None:
        self.keys = tuple(keys)
        self.selected = selected
        self.kind = kind
        self.is_chosen = False
        self.held = ""
        self._opener = opener
        self._last = now
        self._held_until = 0.0
        self._is_taken = self._is_aimed = False
        self._before_line = -1.0
        self._refused = ""

    def is_armed(self, now: float) -> bool:
        """True if Enter pressed now can decide."""
        return self._wait_after(ENTER, now) is not None

    def wants(self, key: str, now: float, *, has_text: bool) -> bool:
        """True if a key is for the card, given whether the composer has text."""
        if key == TAB:
            return has_text
        if has_text and not self.is_chosen:
            return False
        return key in (UP, DOWN) or (self._names_option(key) and self._wait_after(key, now) is not None)

    def press(self, key: str, now: float, repeats: str = "") -> None:
        """Take a key that is wanted: it moves, or is held until it is known to be alone, with its `repeats` before."""
        self._is_taken = True
        match key:
            case "tab":
                self.is_chosen = not self.is_chosen
            case "up" | "down":
                self._is_aimed = self._is_aimed or self.is_armed(now)
                first = 0 if key == DOWN else len(self.keys) - 1
                step = 1 if key == DOWN else -1
                self.selected = first if self.selected == NONE else (self.selected + step) % len(self.keys)
            case _:
                self.held, self._held_until = repeats + key, now + (self._wait_after(key, now) or 0.0)

    def note_key(self, now: float, *, has_text: bool = False) -> None:
        """Begin the silence again, after every key. One for the composer leaves the card, and may begin a line there.

        `has_text`: the composer had some before it.
        """
        if not has_text:
            self._before_line = now - self._last
        self._last = now
        self.is_chosen = self.is_chosen and self._is_taken
        self._is_aimed = self._is_aimed and self._is_taken
        self._is_taken = False

    def release(self) -> str:
        """Another key came: give back the held key as text for the composer. Enter alone was no text."""
        held, self.held = self.held, ""
        return "" if held == ENTER else held

    def decide(self, now: float) -> str | None:
        """Return the option of the held key, once it was alone for long enough."""
        if not self.held or now < self._held_until:
            return None
        held, self.held = self.held[-1], ""
        return self.option_of(held)

    def takes_line(self, text: str, now: float) -> bool:
        """True if Enter behind this typed line can decide; one that came too early can, when it is sent again."""
        silences = [self._before_line, *([now - self._last] if text == self._refused else [])]
        self._refused = text
        return any(wait_after(self.kind, self._opener, LINE, silence) is not None for silence in silences)

    def option_of(self, key: str) -> str:
        """Return the option that a key names."""
        if key == ENTER:
            return self.keys[self.selected]
        return key.lower() if key.lower() in self.keys else self.keys[int(key) - 1]

    def _counts(self, key: str) -> bool:
        """True for a digit that counts the options. Those of a question have numbers, and another one is an answer."""
        return self.kind is not Kind.QUESTION and key.isdecimal() and 0 < int(key) <= len(self.keys)

    def _wait_after(self, key: str, now: float) -> float | None:
        opener = Opener.PERSON if self.is_chosen else self._opener
        aimed = key == ENTER and self._is_aimed
        return wait_after(self.kind, opener, AIMED if aimed else key, now - self._last)

    def _names_option(self, key: str) -> bool:
        if key == ENTER:
            return self.selected != NONE
        return key.lower() in self.keys or self._counts(key)


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
