"""A console whose rows are printed above the live screen."""

import io
from collections.abc import Callable

from rich.console import Console


class RowFile(io.StringIO):
    """A file for a console: passes on what is written."""

    def __init__(self, print_above: Callable[[str], None]) -> None:
        super().__init__()
        self._print_above = print_above

    def write(self, text: str) -> int:
        self._print_above(text)
        return len(text)

    def isatty(self) -> bool:
        return True


def build_console(print_above: Callable[[str], None]) -> Console:
    """Build a console that has the terminal's size and colors."""
    return Console(file=RowFile(print_above), force_terminal=True, highlight=False)
