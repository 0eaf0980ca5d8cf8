"""Time as a person at the keyboard sees it: while the program is busy, it stands still.

Keys typed while the program is busy arrive together afterwards. By the time of their arrival, the first of them would
come after a silence that never was.
"""

import time
from collections.abc import Callable

BEAT = 0.1
"""Seconds between two looks at the clock, as long as a card waits."""
LONGEST_STEP = 0.15
"""Most seconds that count between two looks."""


class CalmClock:
    """Must be looked at every `BEAT` seconds; what passes beyond that was no silence."""

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
