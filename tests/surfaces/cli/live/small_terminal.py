"""A small terminal emulator: a window, what scrolled off above it, and the few codes that the live screen writes."""

import re

from rich.cells import cell_len

_PIECE = re.compile(
    r"\x1b\[[?<>=]?([\d;]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[78=>]|\x1b.|[\r\n\b\x07]|[^\x1b\r\n\b\x07]+"
)


class SmallTerminal:
    """Lines of cells; a wide character has an empty cell behind it."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns = columns
        self._rows = rows
        self._above: list[str] = []
        self._lines = [[""] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._wraps = True
        self._rest = ""

    @property
    def text(self) -> str:
        """Everything: what scrolled off, and the window."""
        return "\n".join([*self._above, *map(_join, self._lines)])

    @property
    def window(self) -> str:
        return "\n".join(map(_join, self._lines))

    def feed(self, text: str) -> None:
        """Take what a program wrote, of which the last code may be incomplete."""
        text = self._rest + text
        cut = text.rfind("\x1b", max(0, len(text) - 30))
        is_cut = cut >= 0 and not re.match(
            r"\x1b(\[[?<>=]?[\d;]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[^\[\]])", text[cut:]
        )
        text, self._rest = (text[:cut], text[cut:]) if is_cut else (text, "")
        for piece in _PIECE.finditer(text):
            if piece[2]:
                self._obey(piece[2], piece[1])
            elif piece[0] == "\r":
                self._column = 0
            elif piece[0] == "\n":
                self._go_down()
            elif piece[0] == "\b":
                self._column = max(0, self._column - 1)
            elif piece[0][0] not in "\x1b\x07":
                self._write(piece[0])

    def _obey(self, code: str, given: str) -> None:
        number = int(given.split(";")[0] or 0) if given else 0
        match code:
            case "A":
                self._row = max(0, self._row - max(1, number))
            case "B":
                self._row = min(self._rows - 1, self._row + max(1, number))
            case "C":
                self._column = min(self._columns - 1, self._column + max(1, number))
            case "D":
                self._column = max(0, min(self._column, self._columns) - max(1, number))
            case "G":
                self._column = max(1, number) - 1
            case "K":
                self._lines[self._row][self._column :] = [""] * (self._columns - self._column)
            case "J":
                self._lines[self._row][self._column :] = [""] * max(0, self._columns - self._column)
                for line in self._lines[self._row + 1 :]:
                    line[:] = [""] * self._columns
            case "h" | "l" if given == "7":
                self._wraps = code == "h"
            case "m" | "h" | "l" | "t" | "u" | "c" | "n" | "q":
                return
            case _:
                raise ValueError(f"unknown code {given}{code}")

    def _write(self, text: str) -> None:
        for character in text:
            width = cell_len(character)
            if width == 0:
                continue
            if self._column + width > self._columns:
                if not self._wraps:
                    self._column = self._columns - width
                else:
                    self._column = 0
                    self._go_down()
            self._lines[self._row][self._column] = character
            if width == 2:
                self._lines[self._row][self._column + 1] = "\0"
            self._column += width

    def _go_down(self) -> None:
        if self._row < self._rows - 1:
            self._row += 1
            return
        self._above.append(_join(self._lines.pop(0)))
        self._lines.append([""] * self._columns)


def _join(line: list[str]) -> str:
    return "".join(cell or " " for cell in line).replace("\0", "").rstrip()
