"""When keys came from the terminal.

A key goes through several queues before the part of the screen that takes it. On a busy machine the times at which two
keys are handled can lie far apart although they were typed in one word; only the times of their arrival tell.
"""

from collections.abc import Callable
from typing import Protocol
from weakref import WeakKeyDictionary

from textual.events import Key

from halocline.protocol.values import Value
from halocline.surfaces.cli.live.decision_keys import SILENCE


class Arrival(Value, frozen=True):
    """One key: its number, its time (monotonic seconds), and the seconds without a key before it."""

    number: int
    at: float
    silence: float


class KeyArrivals:
    """Notes each key as the terminal's reader hands it over, before any queue."""

    def __init__(self) -> None:
        self._newest = Arrival(0, 0.0, 0.0)
        self._of: WeakKeyDictionary[Key, Arrival] = WeakKeyDictionary()

    def note(self, key: Key) -> None:
        """Take note of a key that arrived."""
        self._newest = Arrival(self._newest.number + 1, key.time, key.time - self._newest.at)
        self._of[key] = self._newest

    def came_in_silence(self, key: Key, since: float) -> bool:
        """True if no key came for long enough before this one, and it came long enough after `since`."""
        arrival = self._of.get(key)
        return arrival is not None and min(arrival.silence, arrival.at - since) >= SILENCE

    def watch_for_more(self, key: Key) -> Callable[[], bool]:
        """Return what tells whether this key is still the newest, handled or not."""
        arrival = self._of.get(key)
        return lambda: arrival is self._newest


class NotesArrivals(Protocol):
    """An app that notes when keys arrive."""

    arrivals: KeyArrivals
