"""Markdown as HTML: CommonMark with tables, as where the repository is read, with the anchors that are made there."""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name, get_lexer_for_filename
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

LIGHT, DARK = "xcode", "github-dark"
"""Colors of code."""
LONG = 26
"""Characters of code in a cell that may be broken between two lines."""
_SOURCE = re.compile(r'(?<= src=")[^"]+')
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FORMATTER = HtmlFormatter(cssclass="code")

Row = tuple[str, str, str]
"""A part of a page that a search finds: anchor, heading and text."""


@dataclass(frozen=True)
class Document:
    """A rendered page; `headings` have level, anchor and text."""

    title: str
    body: str
    headings: Sequence[tuple[int, str, str]]
    rows: Sequence[Row]


def render_document(text: str, lead: Callable[[str], str]) -> Document:
    """Render a page. `lead` changes each link."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(text)
    headings = list(_add_anchors(tokens))
    _change_links(tokens, lead)
    _name_cells(tokens)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    body = parser.renderer.render(tokens, parser.options, {})
    return Document(headings[0][2], body, headings, list(_list_rows(tokens)))


def make_anchor(heading: str) -> str:
    """Return the anchor of a heading, as it is made where the repository is read."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _add_anchors(tokens: list[Token]) -> Iterator[tuple[int, str, str]]:
    known: dict[str, int] = {}
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = _read_text(inline)
            anchor = make_anchor(text)
            known[anchor] = known.get(anchor, -1) + 1
            anchor += f"-{known[anchor]}" if known[anchor] else ""
            token.attrSet("id", anchor)
            yield int(token.tag[1:]), anchor, text


def _read_text(inline: Token) -> str:
    parts = (token.content or " " * (token.type == "softbreak") for token in inline.children or ())
    return "".join(parts)


def _change_links(tokens: Sequence[Token], lead: Callable[[str], str]) -> None:
    for token in tokens:
        for name in ("href", "src"):
            if isinstance(link := token.attrGet(name), str):
                token.attrSet(name, lead(link))
        if token.type in ("html_block", "html_inline"):
            shown = _COMMENT.sub("", token.content)
            token.content = _SOURCE.sub(lambda found: lead(found[0]), shown)
        _change_links(token.children or (), lead)


def _name_cells(tokens: list[Token]) -> None:
    """Give each cell the name of its column, which narrow screens show instead of the head."""
    names, at, is_empty = list[str](), 0, False
    for token, inline in pairwise(tokens):
        match token.type:
            case "thead_open":
                names = []
            case "th_open":
                names.append(_read_text(inline))
                is_empty = not inline.content
                token.tag = "td" if is_empty else "th"
            case "th_close":
                token.tag = "td" if is_empty else "th"
            case "tr_open":
                at = 0
            case "td_open":
                token.attrSet("data-column", names[at] if at else "")
                at += 1


def _list_rows(tokens: list[Token]) -> Iterator[Row]:
    anchor, heading, texts = "", "", list[str]()
    for token, inline in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        if token.type == "heading_open":
            if texts:
                yield anchor, heading, " ".join(texts)
            anchor, heading, texts = str(token.attrGet("id")), _read_text(inline), []
            anchor = "" if token.tag == "h1" else anchor
        elif token.type == "fence":
            texts.append(token.content)
        elif token.type == "inline" and token.content != heading:
            texts.append(_read_text(token))
    yield anchor, heading, " ".join(texts)


def _close_heading(renderer: Any, tokens: list[Token], at: int, *_: Any) -> str:
    anchor = tokens[at - 2].attrGet("id")
    return f' <a class="anchor" href="#{anchor}" aria-label="Link to this heading">#</a></{tokens[at].tag}>\n'


def _show_fence(renderer: Any, tokens: list[Token], at: int, *_: Any) -> str:
    return render_code(tokens[at].content, tokens[at].info.strip())


def _show_inline_code(renderer: Any, tokens: Sequence[Token], at: int, *_: Any) -> str:
    text = tokens[at].content
    return f"<code{' class=long' if len(text) > LONG else ''}>{html.escape(text)}</code>"


_RULES = {
    "code_inline": _show_inline_code,
    "heading_close": _close_heading,
    "fence": _show_fence,
    "table_open": lambda *_: '<div class="table" tabindex="0"><table>\n',
    "table_close": lambda *_: "</table></div>\n",
}


def render_code(text: str, kind: str) -> str:
    """Render code with colors; `kind` is a language or the path of a file."""
    try:
        lexer = get_lexer_for_filename(kind) if "." in kind or "/" in kind else get_lexer_by_name(kind or "text")
    except ClassNotFound:
        lexer = TextLexer()
    shown: str = highlight(text, lexer, _FORMATTER)
    return shown.replace('<div class="code"><pre>', '<div class="code"><pre tabindex="0">')


def list_styles() -> str:
    """Return the colors of code, each for light and for dark pages."""
    light, dark = (dict(get_style_by_name(name)) for name in (LIGHT, DARK))
    return "".join(
        f".code .{name} {{ color: light-dark({_color(light, token)}, {_color(dark, token)}) }}\n"
        for token, name in STANDARD_TYPES.items()
        if name and _color(light, token) + _color(dark, token) != "inherit" * 2
    )


def _color(style: dict[Any, Any], token: Any) -> str:
    return f"#{found}" if (found := style.get(token, {}).get("color")) else "inherit"
