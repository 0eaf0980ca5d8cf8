"""Patterns for file names, as `glob` reads them: at least what bash matches, for what bash reads in another way."""

import os
from itertools import product

from halocline.policy.shell.syntax.tree import Word
from halocline.protocol.patterns import compile_later

MOST_HIDDEN_PARTS = 4
"""Most parts of a pattern that may each match hidden names as well."""
GLOB = compile_later(r"[*?\[]")
_SET = compile_later(r"\[[!^]?\]?(?:\[[:.=].*?[:.=]\]|[^\]])*\]")
_CLASS = compile_later(r"\[[:.=]")
_FIRST = compile_later(rf"\*|\?|{_SET.pattern}")
EXTENDED = compile_later(r"[@+?*!\]\w^~#]\([^)]")
UNSURE = compile_later("nocaseglob|extglob|globstar")
"""What makes patterns match more than they seem to."""
OTHER_SHELLS = frozenset({"zsh", "ksh", "mksh", "fish", "tcsh", "csh"})
"""Shells whose patterns match more than bash's."""


def build_pattern(word: Word) -> str:
    """Return the pattern of a word for `glob`. Sets with classes such as `[[:alpha:]]` match any character."""
    parts = (one.text.replace("[^", "[!") if one.active else GLOB.sub(r"[\g<0>]", one.text) for one in word.pieces)
    text = "".join(parts)
    text = _SET.sub(lambda found: "?" if _CLASS.search(found.group(), 1) else found.group(), text)
    return text if word.quoted else os.path.expanduser(text)


def add_hidden_patterns(pattern: str) -> list[str] | None:
    """Return a pattern with those that match hidden names in each of its parts; None if they are too many."""
    parts = [(part, *_match_dot(part)) for part in pattern.split("/")]
    if sum(len(part) > 1 for part in parts) > MOST_HIDDEN_PARTS:
        return None
    return ["/".join(one) for one in product(*parts)]


def _match_dot(part: str) -> list[str]:
    """Return the pattern for hidden names only, if there may be any: what begins it matches the dot."""
    first = _FIRST.match(part)
    return [f".{part}" if first.group() == "*" else f".{part[first.end() :]}"] if first else []


def names_hidden_switch(text: str) -> bool:
    """Return True if a text names what makes patterns match names with a leading dot. Functions may hold it, too."""
    return "GLOBIGNORE" in text or "dotglob" in text
