"""One block of Markdown for the terminal: nothing a model wrote is hidden, and links show their targets."""

from collections.abc import Iterator
from functools import cache, cached_property

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from halocline.protocol.values import Value
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.theme import MARGIN, Gutter, find_code_theme

_WEB = ("https://", "http://")
_HOLE = 0xE000
"""The first of the letters that stand for code while what is around it is drawn; they are for private use."""


class LeftHeading(Heading):
    """A left-aligned heading."""

    LEVEL_ALIGN = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class PlainCode(CodeBlock):
    """Code in the terminal's colors and background."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Padding(color_code(str(self.text).rstrip("\n"), self.lexer_name, console), (0, 2))


def color_code(code: str, language: str, console: Console, *, path: str = "") -> Text:
    """Code in the terminal's colors, each line as it is; of a part of a file, whose name tells the language."""
    lexer = Syntax.guess_lexer(path) if path else language
    drawn = Syntax("", lexer, theme=find_code_theme(console)).highlight(code)
    drawn.style, drawn.spans = "", [one._replace(style=_drop_background(one.style)) for one in drawn.spans]
    if drawn.plain.endswith("\n") and not code.endswith("\n"):
        drawn.right_crop(1)
    drawn.no_wrap, drawn.overflow = False, "fold"
    return drawn


def _drop_background(style: str | Style) -> str | Style:
    if isinstance(style, str):
        return style
    return Style(color=style.color, bold=style.bold, italic=style.italic, underline=style.underline)


class Code(Value, frozen=True):
    """Code within a list or a quote, without what that puts before its lines."""

    text: str
    language: str


class Block(Markdown):
    """A block that shows HTML as text, images as their targets, and links followed by their targets."""

    elements = {**Markdown.elements, "heading_open": LeftHeading, "fence": PlainCode, "code_block": PlainCode}

    def __init__(self, text: str, *, with_holes: bool = False) -> None:
        """`with_holes`: code is left out, and kept in `codes`."""
        # Rich creates a parser for each block, which takes longer than parsing most blocks.
        vars(self).update(vars(_blank_markdown()))
        self.markup = clean(text)
        self.parsed = _build_parser().parse(self.markup)
        inner = [child for token in self.parsed for child in token.children or ()]
        targets = [str(token.attrs.get("href", "")) for token in inner if token.type == "link_open"]
        self.addresses = frozenset(target for target in targets if target.startswith(_WEB))
        for token in (*self.parsed, *inner):
            if token.type == "html_inline" or token.markup == "autolink":
                token.type, token.nesting = "text", 0
            elif token.type == "html_block":
                token.type = "code_block"
            elif token.type == "image":
                token.type, token.tag, token.children = "text", "", None
                token.content = f"[image: {token.content}] ({token.attrs.get('src', '')})"
        codes = [token for token in self.parsed if token.type in ("fence", "code_block")] if with_holes else []
        self.codes = [Code(token.content.rstrip("\n"), token.info.partition(" ")[0] or "text") for token in codes]
        for at, token in enumerate(codes):
            token.content = chr(_HOLE + at)


@cache
def _blank_markdown() -> Markdown:
    return Markdown("", hyperlinks=False)


@cache
def _build_parser() -> MarkdownIt:
    """A parser as rich configures it. It keeps no state between texts."""
    return MarkdownIt().enable("strikethrough").enable("table")


class Prose:
    """A block without the blank lines and trailing spaces that rich adds. Terminals that can open its addresses."""

    def __init__(self, text: str, *, with_holes: bool = False) -> None:
        self.source = text
        self._with_holes = with_holes

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = [_without_end_blanks(row) for row in console.render_lines(self._block, options, pad=False)]
        while lines and not lines[0]:
            lines.pop(0)
        while lines and not lines[-1]:
            lines.pop()
        for row in lines:
            yield from (self._add_link(segment) for segment in row)
            yield Segment.line()

    @property
    def codes(self) -> list[Code]:
        """The code that was left out."""
        return self._block.codes

    @cached_property
    def _block(self) -> Block:
        return Block(self.source, with_holes=self._with_holes)

    def _add_link(self, segment: Segment) -> Segment:
        """Make an address that stands on one line a link of the terminal (OSC 8)."""
        address = segment.text.strip()
        if address not in self._block.addresses:
            return segment
        return segment._replace(style=(segment.style or Style()) + Style(link=address))


class Rows(Value, frozen=True):
    """Rows of a block that are drawn already."""

    rows: list[list[Segment]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in self.rows:
            yield from row
            yield Segment.line()


def split_codes(text: str, console: Console, width: int) -> Iterator[Rows | Code]:
    """Yield the drawn rows of a block and, between them, code that stands in a list or a quote, as it was written."""
    prose = Prose(text, with_holes=True)
    rows, left = list[list[Segment]](), dict(enumerate(prose.codes))
    options = console.options.update(width=width)
    for row in console.render_lines(Gutter(prose, MARGIN, MARGIN), options, pad=False):
        plain = "".join(part.text for part in row)
        hole = next((at for at in left if chr(_HOLE + at) in plain), None)
        if hole is not None:
            row = [part._replace(text=part.text.replace(chr(_HOLE + hole), "")) for part in row]
        if (rows and hole is None) or plain.strip(f" ▌{chr(_HOLE + (hole or 0))}"):
            rows.append(row)
        if hole is not None:
            yield from _trim_rows(rows)
            yield left.pop(hole)
            rows = []
    yield from _trim_rows(rows)
    yield from left.values()  # a window of a few columns has no room for their places


def _trim_rows(rows: list[list[Segment]]) -> Iterator[Rows]:
    """Yield the rows without blank ones at their end, if there are any."""
    while rows and not "".join(part.text for part in rows[-1]).strip(" ▌"):
        rows = rows[:-1]
    if rows:
        yield Rows(rows)


def _without_end_blanks(row: list[Segment]) -> list[Segment]:
    while row and not row[-1].text.strip():
        row = row[:-1]
    return [*row[:-1], row[-1]._replace(text=row[-1].text.rstrip())] if row else []
