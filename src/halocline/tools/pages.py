"""HTML as Markdown: the readable part of a page with its links; no scripts, menus or hidden text."""

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from halocline.protocol.values import Value

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

NOT_READ = (
    "script, style, noscript, template, svg, canvas, iframe, object, embed, video, audio, dialog, "
    "button, input, select, textarea, nav, [role=navigation], [hidden], [aria-hidden=true]"
)
AROUND = "footer, aside, [role=contentinfo], [role=complementary], [role=banner]"
"""Parts left out of a page that does not mark its main part."""
MAIN = ("main", "[role=main]", "article")
LEAST_SHARE = 0.2
"""Minimum share of a page's text for an element to count as its main part."""
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


class ReadablePage(Value, frozen=True):
    """Title and Markdown of a page."""

    title: str
    text: str


def read_page(html: bytes, charset: str, url: str) -> ReadablePage:
    """Read the main part of a page. `charset` is the server's, or empty; links become absolute from `url`."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "html.parser", from_encoding=charset or None)
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    base = soup.find("base", href=True)
    for tag in soup.select(NOT_READ):
        tag.decompose()
    for tag in soup.find_all(style=_INVISIBLE):
        tag.decompose()
    part = _main_part(soup)
    _complete_links(part, urljoin(url, str(base["href"])) if base else url)
    return ReadablePage(title, _BLANK_LINES.sub("\n\n", _as_markdown(part)).strip())


def _main_part(soup: "BeautifulSoup") -> "Tag":
    body = soup.body or soup
    words = len(body.get_text())
    for selector in MAIN:
        found = soup.select(selector)
        if len(found) == 1 and len(found[0].get_text()) >= LEAST_SHARE * words:
            return found[0]
    for tag in body.select(AROUND):
        tag.decompose()
    return body


def _complete_links(part: "Tag", base: str) -> None:
    for tag in part.find_all(["a", "img"]):
        name = "href" if tag.name == "a" else "src"
        target = _absolute_link(base, str(tag.get(name) or ""))
        if target:
            tag[name] = target
        elif tag.name == "a":
            tag.unwrap()
        else:
            tag.replace_with(str(tag.get("alt") or ""))


def _absolute_link(base: str, link: str) -> str:
    """Return the absolute link; empty for scripts, data and anchors in the same page."""
    if not link or link.startswith("#"):
        return ""
    try:
        target = urljoin(base, link.strip())
    except ValueError:
        return ""
    return target if target.startswith(("http://", "https://", "mailto:")) else ""


def _as_markdown(part: "Tag") -> str:
    from markdownify import ATX, MarkdownConverter

    converter = MarkdownConverter(
        heading_style=ATX,
        bullets="-",
        escape_asterisks=False,
        escape_underscores=False,
        code_language_callback=_code_language,
    )
    try:
        return str(converter.convert_soup(part))
    except RecursionError:  # thousands of nested tags
        return part.get_text("\n", strip=True)


def _code_language(code: "Tag") -> str:
    """Return the language in a code block's class (`language-…`), as most highlighters write it."""
    inner = code.find("code")
    for name in [*(code.get("class") or ()), *((inner.get("class") or ()) if inner else ())]:
        _, found, language = str(name).partition("language-")
        if found:
            return language
    return ""
