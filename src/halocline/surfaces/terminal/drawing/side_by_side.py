"""The lines of a diff in two columns, the old beside the new, where the terminal has room for both."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment

NEEDED = 110
"""Columns that two columns need: what a diff has in a terminal of 120 is a little less."""
_BETWEEN = " │ "

Pair = tuple[int | None, int | None]
"""The places of a line in the old and in the new text; None where one of them has no such line."""


def pair_lines(signs: Sequence[str]) -> list[Pair]:
    """Pair the lines of a diff, given by their signs: each removed run with the added run after it."""
    pairs: list[Pair] = []
    removed: list[int] = []
    for sign, group in groupby(range(len(signs)), key=lambda at: signs[at]):
        run = list(group)
        if sign == "-":
            removed = run
            continue
        if sign == "+":
            pairs += zip_longest(removed, run)
        else:
            pairs += [*((at, None) for at in removed), *((at, at) for at in run)]
        removed = []
    return pairs + [(at, None) for at in removed]


@dataclass(frozen=True, slots=True)
class Columns:
    """A diff that draws itself in two columns if they fit, else as `rows`, one below the other.

    `draw` returns the line at a place, with its number in the old or in the new text.
    """

    rows: Sequence[RenderableType]
    pairs: Sequence[Pair]
    draw: Callable[[int, bool], RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width < NEEDED:
            yield from self.rows
            return
        width = (options.max_width - len(_BETWEEN)) // 2
        for old, new in self.pairs:
            left, right = (
                self._draw_lines(console, options.update(width=width), at, is_old)
                for at, is_old in ((old, True), (new, False))
            )
            blank = [Segment(" " * width)]
            for one, other in zip_longest(left, right, fillvalue=blank):
                yield from one
                yield Segment(_BETWEEN, console.get_style("quiet"))
                yield from other
                yield Segment.line()

    def _draw_lines(
        self, console: Console, options: ConsoleOptions, at: int | None, is_old: bool
    ) -> Iterator[list[Segment]]:
        return iter(()) if at is None else iter(console.render_lines(self.draw(at, is_old), options, pad=is_old))
