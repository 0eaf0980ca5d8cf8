"""Wrapping a line of text to a number of columns: between words, as the rows of the terminal are, wherever it stands.

What must stay true: it breaks where rich breaks, so that a text that grows does not move when it is printed.
"""

from halocline.protocol.patterns import compile_later

Fragments = list[tuple[str, str]]
"""A line in pieces, each after its style."""
_WORD = compile_later(r"\s*\S+\s*")


def wrap_line(line: str, width: int, *, folds: bool = True) -> list[str]:
    """Wrap a line. Wide characters count twice; a word longer than a row is broken if it `folds`, also between them."""
    from rich.cells import cell_len, chop_cells  # messages are wrapped on a terminal only

    width = max(1, width)
    rows, row, used = [], "", 0
    for word in _WORD.findall(line):
        size = cell_len(word.rstrip())
        if row and used + size > width:
            rows.append(row)
            row, used = "", 0
        if folds and size > width:
            *full, word = chop_cells(word, width)
            rows += full
        row += word
        used += cell_len(word)
    return [*rows, row]


def cut_line(text: str, width: int) -> str:
    """Cut a text to a number of columns."""
    from rich.cells import cell_len, chop_cells

    return text if cell_len(text) <= width else "".join(chop_cells(text, max(1, width - 1))[:1]) + "…"
