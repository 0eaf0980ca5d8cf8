"""Lines of a list to choose from: a name and its meaning in each, around the selected one."""

from collections.abc import Sequence

from rich.cells import cell_len

from halocline.surfaces.terminal.application.activity import Fragments, cut_line

NARROW = 60
"""Columns below which the meaning may stand below its name."""


def draw_choices(
    choices: Sequence[tuple[str, str]], selected: int | None, width: int, rows: int, *, mark: str = "  "
) -> list[Fragments]:
    """Draw as many choices as fit. The selected one has the `mark`; with one, narrow screens get two lines for each."""
    is_stacked = bool(mark.strip()) and width < NARROW and rows > 3
    most = max(1, rows // 2 if is_stacked else rows)
    first = max(0, min((selected or 0) - most // 2, len(choices) - most))
    shown = choices[first : first + most]
    widest = min(max(map(cell_len, (name for name, _ in shown)), default=0), width // 2)
    lines: list[Fragments] = []
    for number, (name, meaning) in enumerate(shown, first):
        style, sign = ("class:mark", mark) if number == selected else ("", "  ")
        if is_stacked:
            lines += [
                [(style, sign + cut_line(name, width - 3))],
                [("class:quiet", f"    {cut_line(meaning, width - 5)}")],
            ]
            continue
        cut = cut_line(name, widest)
        beside = cut_line(meaning, max(1, width - widest - 6))
        lines.append([(style, sign + cut + " " * (widest - cell_len(cut))), ("class:quiet", f"  {beside}")])
    return lines
