"""Cards as plain lines, for pipes and files: nothing is wrapped, cut or styled, and replies stay Markdown."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from halocline.surfaces.terminal import drawing
from halocline.surfaces.terminal.drawing.side_by_side import Columns
from halocline.surfaces.terminal.drawing.theme import Gutter, Wide


def draw_lines(body: RenderableType) -> Iterator[str]:
    """Yield the lines of a card. Raises TypeError for a kind of renderable that no card uses."""
    match body:
        case Text():
            yield from body.plain.split("\n")
        case Gutter():
            mark, rest = body.first.plain, body.rest.plain
            for line in draw_lines(body.body):
                yield f"{mark}{line}".rstrip()
                mark = rest
        case Group():
            for part in body.renderables:
                yield from draw_lines(part)
        case Wide():
            yield from draw_lines(body.body)
        case Columns():
            for part in body.rows:
                yield from draw_lines(part)
        case drawing.markdown.Prose():
            yield from body.source.strip("\n").split("\n")
        case _:
            raise TypeError(f"no plain form of {type(body).__name__}")
