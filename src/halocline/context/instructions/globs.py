"""Patterns for paths as Cline, Cursor and Copilot write them: `src/**/*.{ts,tsx}`, relative to the project.

What must stay true: a pattern out of a foreign project costs little, whatever it is. Therefore it is compared folder
by folder, never as one regular expression.
"""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

LONGEST = 500
MOST = 64
"""What braces may become."""
_WILD = frozenset("*?[")


def fitting_path(patterns: Sequence[str], paths: Iterable[str]) -> str:
    """The first path that a pattern means; empty when none is. A pattern with `!` before it takes paths away."""
    wanted = [names for pattern in patterns if not pattern.startswith("!") for names in _split_names(pattern)]
    unwanted = [names for pattern in patterns if pattern.startswith("!") for names in _split_names(pattern[1:])]
    for path in paths:
        parts = path.strip("/").split("/")
        if _any_fits(wanted, parts) and not _any_fits(unwanted, parts):
            return path
    return ""


def matches_glob(pattern: str, path: str) -> bool:
    """Whether a pattern means a path. `**` is any number of folders, `*` anything within one name."""
    return _any_fits(_split_names(pattern), path.strip("/").split("/"))


def in_any_folder(pattern: str) -> str:
    """The pattern for files in any folder, when it names none."""
    return pattern if "/" in pattern else f"!**/{pattern[1:]}" if pattern.startswith("!") else f"**/{pattern}"


def _expand_braces(pattern: str) -> list[str]:
    """The patterns without braces that it stands for."""
    text = pattern.strip().removeprefix("./").lstrip("/")[:LONGEST]
    text += "**" if text.endswith("/") else ""
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) <= MOST:
        opened = _innermost_braces(one := waiting.pop())
        if opened:
            waiting += opened
        else:
            done.append(one)
    return done


def _innermost_braces(text: str) -> list[str]:
    """The texts that the innermost first braces stand for; nothing when there are none with a comma in them."""
    end = text.find("}")
    start = text.rfind("{", 0, end) if end > 0 else -1
    if start < 0:
        return []
    return [text[:start] + choice + text[end + 1 :] for choice in text[start + 1 : end].split(",")]


def _split_names(pattern: str) -> list[list[str]]:
    return [one.split("/") for one in _expand_braces(pattern)]


def _any_fits(patterns: Iterable[Sequence[str]], parts: Sequence[str]) -> bool:
    return any(_names_match(names, parts) for names in patterns)


def _names_match(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Names against names; `ends` are the numbers of parts that the pattern so far may have used up."""
    if _WILD.isdisjoint(names[0]) and names[0] != parts[0]:
        return False  # of many rules most are about other folders
    ends = {0}
    for name in names:
        if name == "**":
            ends = set(range(min(ends), len(parts) + 1))
        else:
            ends = {at + 1 for at in ends if at < len(parts) and fnmatchcase(parts[at], name)}
        if not ends:
            return False
    return len(parts) in ends
