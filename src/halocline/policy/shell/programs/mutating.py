"""Programs that do more than read, as `mutating.txt` tells them: their effects, and which of their words are targets.

Nothing is allowed because it is missing there.
"""

import re

from halocline.policy.word_tables import read_lines, read_pairs, read_words
from halocline.protocol.permission_rules import Effect
from halocline.protocol.values import Value

RIGHTFUL = Effect.WRITES_OUTSIDE
"""The effect of programs that change owners, groups and permissions of files."""


class Actor(Value, frozen=True):
    """The effect of a program, as the table explains it: it has no known one with flags other than `flags`."""

    effect: Effect
    does: str
    targets: str = "none"
    valued: str = ""
    into: bool = False
    flags: str = ""


def _read_actor(row: str) -> Actor:
    effect, does, targets, valued, flags, into, *_ = (*row.split("; "), *("",) * 5)
    return Actor(Effect(effect), does, targets or "none", valued, into == "into", flags)


def _read_losses(title: str) -> dict[str, tuple[str, str]]:
    rows = (row.partition("; ") for row in read_pairs(_LINES[title]).values())
    return dict(zip(read_pairs(_LINES[title]), ((why, words) for why, _, words in rows), strict=True))


_LINES, _WORDS = read_lines(__file__), read_words(__file__)
ACTORS = {name: _read_actor(row) for name, row in read_pairs(_LINES["actors"]).items()}
ACTORS |= dict.fromkeys(_WORDS["networking"], Actor(Effect.NETWORK, "uses the network"))
NETWORK_COMMANDS = read_pairs(_LINES["network commands"])
TAKES_FOLDERS = read_pairs(_LINES["take folders"])
GIT_DISCARDS, GIT_DESTROYS = _read_losses("git discards"), _read_losses("git destroys")
GIT_REACHES = tuple(line.split() for line in _LINES["git reaches"])
GIT_SHOWS_NOTHING = frozenset(_WORDS["git shows nothing"])
_TITLES = ("rights", "persists", "shells", "interpreters")
RIGHTS, PERSISTS, SHELLS, INTERPRETERS = (frozenset(_WORDS[title]) for title in _TITLES)


def why_git_loses(words: list[str], table: dict[str, tuple[str, str]]) -> str:
    """Say what a git command loses by a table; empty if it is not known to lose anything."""
    why, needed = table.get(words[0], ("", ""))
    return why if not needed or any(re.fullmatch(needed, word) for word in words[1:]) else ""
