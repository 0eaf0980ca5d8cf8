"""Where a hunk of a patch may lie: what the lines after `@@` name, such as a class and a function in it.

A header stands before the place. It reaches as far as its block does: over deeper lines, or in flat text up to the next
line that begins alike. What a header does not cover is looked at only when the header's block has no place.
"""

import re
from collections.abc import Iterator, Sequence

from halocline.edits.lines import Lines
from halocline.edits.similarity import as_is, folded, folded_trimmed, indent_of

Scope = tuple[int, int]
_INDENTED = (as_is, str.rstrip, folded)
_TRIMMED = (str.strip, folded_trimmed)
_WORD = re.compile(r"\w+|[^\w\s]+")


def header_lines(lines: Lines, header: str, scope: Scope) -> list[int]:
    """Where a header stands, by the strictest way that finds it; a line that only begins with it is the last.

    One that is written without indentation says nothing about it.
    """
    for form in (*_INDENTED, *_TRIMMED) if header[:1].isspace() else _TRIMMED:
        if found := lines.coded(form).places([header], *scope):
            return found
    wanted = folded_trimmed(header)
    trimmed = lines.coded(folded_trimmed).lines
    return [i for i in range(*scope) if wanted and re.match(re.escape(wanted) + r"(?!\w)", trimmed[i])]


def scopes(lines: Lines, headers: Sequence[str]) -> list[Scope]:
    """The blocks that the headers name, each one inside the one before; the whole file without headers."""
    found: list[Scope] = [(0, len(lines))]
    for header in headers:
        found = [(at + 1, _reach(lines, at, scope[1])) for scope in found for at in header_lines(lines, header, scope)]
    return found


def _reach(lines: Lines, header: int, end: int) -> int:
    """The line after the block of a header."""
    depth = _depth(lines.texts[header])
    following = ((i, lines.texts[i]) for i in range(header + 1, end) if re.search(r"\w", lines.texts[i]))
    return next(_ends(following, depth, lines.texts[header]), end)


def _ends(following: Iterator[tuple[int, str]], depth: int, header: str) -> Iterator[int]:
    first = _WORD.match(header.strip())
    deeper = False
    for i, text in following:
        if _depth(text) > depth:
            deeper = True
        elif deeper or _depth(text) < depth or _begins(text, first[0] if first else ""):
            yield i


def _begins(text: str, word: str) -> bool:
    found = _WORD.match(text.strip())
    return found is not None and found[0] == word


def _depth(text: str) -> int:
    return len(indent_of(text).expandtabs(4))
