"""The status line: what is happening and for how long, with the newest lines below. Erased before other output.

It is driven by the event loop's timer, only while there is something to show; no thread, no task.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, inf

from rich.cells import cell_len
from rich.console import Console

from halocline.surfaces.figures import format_elapsed
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.theme import WIDEST
from halocline.surfaces.wrapping import cut_line

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
INTERVAL = 0.1
HINT_AFTER = 4.0
_COLOURS = {"+": "32", "-": "31"}
PATIENCE = 20.0
"""Seconds after which the line says how to stop."""
LEAST_TEXT = 16
"""Columns that the time and the keys leave for what happens."""
LONG = 30.0
"""Seconds after which a person who is away is told of a command that still runs."""


@dataclass(frozen=True, slots=True)
class Activity:
    """The current activity. `tail` is called for each drawing; `until` (monotonic seconds) makes a countdown.

    `hint` names another key once it takes long; an `is_command` may never end. `stop` stands in place of the key that
    stops it, where none does. `below` are lines shown under it, such as those of a growing edit. `output` returns the
    newest lines of a command, where there is room for them; `began` (monotonic seconds) counts from there also where it
    stands beside another.
    """

    text: str
    tail: Callable[[], str] = str
    until: float | None = None
    hint: str = ""
    is_command: bool = False
    below: Sequence[str] = ()
    output: Callable[[], Sequence[str]] = tuple
    began: float | None = None
    stop: str = ""


class StatusLine:
    interval = INTERVAL
    patience = PATIENCE
    stop_hint = "Ctrl-C stops"

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic, *, still: bool = False) -> None:
        self._console = console
        self._clock = clock
        self.is_live = console.file.isatty() and not console.is_dumb_terminal and not still
        """True if the terminal can redraw a line in place."""
        self.activity: Activity | None = None
        """The activity shown."""
        self.beside: Activity | None = None
        """A command of the person beside the activity: keys stop it first, unless it has its own `stop`."""
        self._since = 0.0
        self._drawn = False
        self._below = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._told = False
        self.on_long: Callable[[str], None] = lambda text: None

    def start(self) -> None:
        """Draw the line from the running event loop."""
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        self.set(None)
        self._loop = None

    def set(self, activity: Activity | None) -> None:
        """Set the activity; the same text continues its timer."""
        if activity is None:
            self._rest()
            self.erase()
        elif self.activity is None or activity.text != self.activity.text:
            self._since, self._told = self._clock() if activity.began is None else activity.began, False
        self.activity = activity
        if activity and self._loop and self.is_live and not self._timer:
            self._timer = self._loop.call_later(self.interval, self._tick)

    def erase(self) -> None:
        if self._drawn:
            self._write(self._back())
            self._drawn = False
            self._below = 0

    def words(self, width: int, activity: Activity | None = None) -> str:
        """The line as plain text, cut to the width: first what happens, as time and keys are needed more."""
        if (activity := activity or self.activity) is None:
            return ""
        facts = self._list_facts(activity, self._clock())
        while facts and width - cell_len("".join(facts)) < LEAST_TEXT:
            facts.pop()
        after = "".join(facts)
        text = cut_line(activity.text, width - cell_len(after)) + after
        if tail := clean(self._tail(activity)).replace("\n", " ").expandtabs(4).strip():
            room = width - cell_len(text) - 3
            text += f"   {_end_of(tail, room)}" if room >= 12 else ""
        return text

    def _tail(self, activity: Activity) -> str:
        """The end of what is written, to stand beside the text."""
        return activity.tail()

    def _list_facts(self, activity: Activity, now: float) -> list[str]:
        """The time left or elapsed, and the keys, from important to less."""
        if activity.until is not None:
            left = format_elapsed(ceil(max(0.0, activity.until - now)))
            return list(filter(None, [f" {left}", activity.hint and f" · {activity.hint}"]))
        took = now - (self._since if activity is self.activity else activity.began or now)
        stops = self.patience if self.beside in (None, activity) or self.beside.stop else inf
        return [
            *([f" · {format_elapsed(took)}"] if took >= 1 else []),
            *([f" · {activity.stop or self.stop_hint}"] if took >= stops else []),
            *([f" · {activity.hint}"] if activity.hint and took > HINT_AFTER else []),
        ]

    def _tick(self) -> None:
        self._timer = None
        if self.activity is None or self._loop is None:
            return
        self._tell_if_long(self.activity)
        self._draw()
        self._timer = self._loop.call_later(self.interval, self._tick)

    def _tell_if_long(self, activity: Activity) -> None:
        """Call `on_long` once for a command that runs for long."""
        if activity.is_command and not self._told and self._clock() - self._since >= LONG:
            self._told = True
            self.on_long(activity.text)

    def _rest(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _draw(self) -> None:
        frame = FRAMES[int(self._clock() / INTERVAL) % len(FRAMES)]
        width = min(self._console.width, WIDEST)
        accent = "" if self._console.no_color else "\x1b[36m"
        below = self._lines_below(width)
        lines = [f"{accent}{frame}\x1b[0m \x1b[2m{self.words(width - 3)}\x1b[0m", *below]
        self._write(self._back() + "\r\n".join(lines))
        self._drawn, self._below = True, len(below)

    def _back(self) -> str:
        """Escape codes that erase the drawing and return to its start."""
        return f"\r\x1b[{self._below}A\x1b[J" if self._below else "\r\x1b[K"

    def _lines_below(self, width: int) -> list[str]:
        """The newest lines below, as many as fit, each on one row."""
        room = max(0, self._console.height - 2)
        below = self.activity.below if self.activity and room else ()
        return [self._color_line(line, width - 5) for line in below[-room:]]

    def _color_line(self, line: str, width: int) -> str:
        text = clean(f"{line[:1]} {line[1:]}").replace("\n", " ").expandtabs(4)
        text = cut_line(text, width)
        colour = "2" if self._console.no_color else _COLOURS.get(line[:1], "2")
        return f"    \x1b[{colour}m{text}\x1b[0m"

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()


def _end_of(text: str, room: int) -> str:
    """Cut a text at its start to this many columns."""
    while cell_len(text) > room:
        text = "…" + text[2:] if text.startswith("…") else "…" + text[1:]
    return text
