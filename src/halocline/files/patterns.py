"""Patterns in `.gitignore` syntax, and texts of several such patterns.

What must stay true: however many stars a pattern of a model or a repository has, no path keeps it busy.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from halocline.protocol.patterns import compile_later

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MOST_PATTERNS = 1_000
_OUTSIDE_BRACES = r"(?![^{]*\})"
_FOLDERS = compile_later(r"[*?\[{!]|(^|/)[^./]*/?$")
"""Patterns that are not the name of one file."""
_BRACES = compile_later(r"\{([^{}]*)\}")
_STAR = r"\[\^/\]\*"
"""A star in the expression that pathspec makes of a pattern."""
_STARS = compile_later(rf"(?:{_STAR}){{2,}}")
_BETWEEN = compile_later(rf"{_STAR}((?:\\.|\[\^/\](?!\*)|\[(?!\^/\])\^?\]?[^\]]*\]|[^\\/\[()*+?|^$])+)(?={_STAR})")
"""A star and what follows up to the next one in the same name."""
_AT_FIRST, _BETWEEN_NAMES = "^(?:.+/)?", "(?:/.+)?"
"""Two stars before the first name, and between two names."""


def matches_any(lines: tuple[str, ...], path: str) -> bool:
    """Return True if `.gitignore` patterns match a path, relative to their folder. The path may be a folder."""
    spec = _build_spec(lines)
    return spec.match_file(path) or spec.match_file(f"{path}/")


def find_match(lines: tuple[str, ...], path: str) -> bool | None:
    """Return True if the last pattern that matches a path ignores it, False if it does not; None if none matches.

    The path of a folder ends in a slash.
    """
    return _build_spec(lines).check_file(path).include if lines else None


def keep_valid(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that are patterns, as git skips the others."""
    return lines if _is_valid(lines) else tuple(one for one in lines if _is_valid((one,)))


def split_patterns(text: str) -> tuple[str, ...]:
    """Return the patterns of one text: `*.ts,*.tsx`, `*.ts *.tsx` and `*.{ts,tsx}` are all two.

    Raises ValueError: there are too many.
    """
    ones = [one.strip() for one in re.split(f",{_OUTSIDE_BRACES}", text)]
    spaced = [one.split() if all(re.search(r"[*.]", part) for part in one.split()) else [one] for one in ones]
    found: list[str] = []
    for pattern in (each for few in spaced for one in few for each in _expand_braces(one)):
        found += [pattern] if pattern.strip("!") else []
        if len(found) > MOST_PATTERNS:
            raise ValueError(f"it has over {MOST_PATTERNS:,} patterns")
    return tuple(found)


def names_one(pattern: str) -> bool:
    """True if a pattern is the name of one file, in this or any folder."""
    return not _FOLDERS.search(pattern.removeprefix("**/"))


def _expand_braces(pattern: str) -> Iterator[str]:
    found = _BRACES.search(pattern)
    if found is None:
        yield pattern.removeprefix("./")
        return
    for choice in found[1].split(","):
        yield from _expand_braces(pattern[: found.start()] + choice.strip() + pattern[found.end() :])


@cache
def _is_valid(lines: tuple[str, ...]) -> bool:
    try:
        return "\0" not in "".join(lines) and _build_spec(lines) is not None
    except (ValueError, re.error):
        return False


@cache
def _build_spec(lines: tuple[str, ...]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # most people have neither rules for paths nor ignore files
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    def build(line: str) -> GitIgnoreSpecPattern:
        pattern = GitIgnoreSpecPattern(line)
        if pattern.regex and (once := _try_once(pattern.regex.pattern)) != pattern.regex.pattern:
            pattern.regex = re.compile(once)
        return pattern

    return GitIgnoreSpec.from_lines(build, lines)


def _try_once(expression: str) -> str:
    """Return pathspec's expression of a pattern so that it tries no second place for what is between two stars.

    The first place is as good as any, as whatever comes after the second star may be anywhere behind it. So it is for
    stars within a name and for the names between two `**`.
    """
    once = _BETWEEN.sub(r"(?>[^/]*?\1)", _STARS.sub("[^/]*", expression))
    first, *behind = once.split(_BETWEEN_NAMES)
    if not behind:
        return once
    if first.startswith(_AT_FIRST):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_AT_FIRST)}(?=/))"
    between = (f"(?>(?:/.+?)??{names}(?=/))" for names in behind[:-1])
    return "".join((first, *between, _BETWEEN_NAMES, behind[-1]))
