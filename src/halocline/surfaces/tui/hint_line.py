"""The line that names the keys of a screen, or says something for a moment."""

from collections.abc import Callable

from halocline.surfaces.cli.live.activity import Fragments, cut_line
from halocline.surfaces.tui.fragment_lines import FragmentLines


class HintLine(FragmentLines):
    """Shows the keys; `read_label` returns what stands there instead, such as the label of a line that is typed."""

    def __init__(self, keys: str, read_label: Callable[[], str] = str) -> None:
        super().__init__(self._list_hint)
        self._keys = keys
        self._read_label = read_label
        self._notice = ""

    def show_notice(self, text: str, seconds: float) -> None:
        """Say something for some seconds."""
        self._notice = text
        self.redraw()
        self.set_timer(seconds, self._forget_notice)

    def _forget_notice(self) -> None:
        self._notice = ""
        self.redraw()

    def _list_hint(self, width: int, rows: int) -> list[Fragments]:
        if self._notice:
            return [[("class:warn", cut_line(self._notice, width - 1))]]
        label = self._read_label()
        style = "class:accent" if label else "class:quiet"
        return [[(style, cut_line(label or self._keys, width - 1))]]
