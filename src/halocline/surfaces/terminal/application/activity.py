"""The agent's activity as lines of the live screen."""

from collections.abc import Callable
from dataclasses import replace

from rich.console import Console

from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.status_line import FRAMES, Activity, StatusLine
from halocline.surfaces.wrapping import Fragments, cut_line

INTERVAL = 0.2
"""Seconds between two frames of the spinner."""
_LINE_STYLES = {"+": "class:good", "-": "class:bad"}


class LiveActivity(StatusLine):
    """The status line as a part of the live screen, which draws it; `redraw` asks for a frame."""

    interval = INTERVAL
    patience = 0.0
    stop_hint = "Esc stops"

    def __init__(self, console: Console, redraw: Callable[[], None]) -> None:
        super().__init__(console)
        self.is_live = True
        self._redraw = redraw

    def erase(self) -> None:
        """Nothing to erase: rows are printed above the screen."""

    def set(self, activity: Activity | None) -> None:
        """Set the activity. The text being written is shown in lines of its own."""
        if activity and activity.text == "writing":
            activity = replace(activity, tail=str)
        super().set(activity)

    def _draw(self) -> None:
        self._redraw()

    def lines(self, width: int, rows: int) -> list[Fragments]:
        """The activity and the newest lines below it, at most this many."""
        if self.activity is None or rows < 1:
            return []
        own = self._lines_of(self.beside, width, max(1, rows // 2)) if self.beside and rows > 1 else []
        return self._lines_of(self.activity, width, rows - len(own)) + own

    def _lines_of(self, activity: Activity, width: int, rows: int) -> list[Fragments]:
        frame = FRAMES[int(self._clock() / INTERVAL) % len(FRAMES)]
        shown: list[Fragments] = [[("class:accent", f"{frame} "), ("class:quiet", self.words(width - 3, activity))]]
        output = [cut_line(f"  │ {clean(text).expandtabs(4)}", width - 1) for text in activity.output()]
        below = [*(_draw_grown(text, width) for text in activity.below), *([("class:quiet", text)] for text in output)]
        return shown + below[-(rows - 1) :][: rows - 1]

    def _tail(self, activity: Activity) -> str:
        """Nothing where the output of a command stands below."""
        return "" if activity.output() else super()._tail(activity)


def _draw_grown(line: str, width: int) -> Fragments:
    text = clean(f"{line[:1]} {line[1:]}").replace("\n", " ").expandtabs(4)
    return [(_LINE_STYLES.get(line[:1], "class:quiet"), f"    {cut_line(text, width - 5)}")]
