"""File names: safe for text (on one line, and encodable as UTF-8), and those of markup; pure."""

from halocline.protocol.patterns import compile_later

MARKUP = frozenset(
    {".md", ".mdx", ".markdown", ".mkd", ".rmd", ".qmd", ".html", ".htm", ".xhtml", ".xml", ".svg", ".vue", ".rst"}
)
"""Suffixes of files in which entities and code fences are content."""
PATCH_SECTION = compile_later(r"\*\*\* (Add|Update|Delete) File: *(.*\S)\s*")
"""The first line of a file's section in a patch of `apply_patch`: the action and the path."""
_SURROGATES = compile_later("[\ud800-\udfff]")


def make_encodable(text: str) -> str:
    """Replace each lone surrogate, which UTF-8 cannot encode, with U+FFFD."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def make_printable(name: str) -> str:
    """Return a file name without line breaks, other control characters or lone surrogates."""
    text = make_encodable(name)
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
