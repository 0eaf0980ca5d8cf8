"""Path patterns as Cline, Cursor and Copilot write them: `src/**/*.{ts,tsx}`, relative to the project.

What must stay true: a pattern from an untrusted project is cheap, whatever it is. So it is compared folder by folder,
never as one regular expression.
"""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

LONGEST = 500
MOST = 64
"""Maximum number of patterns that braces expand to."""
_WILD = frozenset("*?[")


def fitting_path(patterns: Sequence[str], paths: Iterable[str]) -> str:
    """Return the first path that a pattern matches; empty if none does. A pattern that starts with `!` excludes."""
    wanted = [names for pattern in patterns if not pattern.startswith("!") for names in _split_names(pattern)]
    unwanted = [names for pattern in patterns if pattern.startswith("!") for names in _split_names(pattern[1:])]
    for path in paths:
        parts = path.strip("/").split("/")
        if _any_fits(wanted, parts) and not _any_fits(unwanted, parts):
            return path
    return ""


def matches_glob(pattern: str, path: str) -> bool:
    """True if the pattern matches the path. `**` is any number of folders, `*` anything within one name."""
    return _any_fits(_split_names(pattern), path.strip("/").split("/"))


def in_any_folder(pattern: str) -> str:
    """Make a pattern without a folder match in any folder."""
    return pattern if "/" in pattern else f"!**/{pattern[1:]}" if pattern.startswith("!") else f"**/{pattern}"


def _expand_braces(pattern: str) -> list[str]:
    """Expand braces into plain patterns."""
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
    """Expand the first innermost braces; empty if there are none."""
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
    """Match names against path parts; `ends` are the numbers of parts that the pattern so far may have consumed."""
    if _WILD.isdisjoint(names[0]) and names[0] != parts[0]:
        return False  # quick exit: most rules are about other folders
    ends = {0}
    for name in names:
        if name == "**":
            ends = set(range(min(ends), len(parts) + 1))
        else:
            ends = {at + 1 for at in ends if at < len(parts) and fnmatchcase(parts[at], name)}
        if not ends:
            return False
    return len(parts) in ends
