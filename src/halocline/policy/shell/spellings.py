"""Match the words of a command by what it is, not by how it is spelt: its program's path, and options before its verb.

A deny may match too much and an allow too little, never the other way round: so a deny takes every option for one that
may have a value, and an allow skips only options that are known to change nothing.
"""

import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from halocline.policy.word_tables import read_lines, read_pairs

FED = "a name it is given"
"""Stands for the names that a program gets while it runs."""
_TAKES_WORDS = frozenset({"echo", "printf", "man", "which", "type", "grep", "rg", "git", "apropos", "whatis"})
"""Programs whose words are known to be no commands."""
Wanted = Sequence[str | tuple[str, ...]]
SYSTEM_FOLDERS = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/sbin", "/usr/sbin"})
"""Folders whose programs are what their names say."""
HARMLESS = read_pairs(read_lines(__file__)["harmless"])
"""Programs whose first operand is a verb, with the options before it that change nothing."""
_SAME_AS = {
    name: [[tuple(word.split("|")) for word in one.split()] for one in others.split(", ")]
    for name, others in read_pairs(read_lines(__file__)["same as"]).items()
}
_LETTERS = read_pairs(read_lines(__file__)["letters"])
"""Long options that most programs take, with their letters."""
_MOST_LETTERS = 6


def is_begun_by(words: Sequence[str], wanted: Wanted) -> bool:
    """Return True if a command may be one that a deny or ask rule names by its first words."""
    name = os.path.basename(words[0]) if words else ""
    if name.startswith("git-") and wanted[0] == "git":
        words, name = ("git", name[4:], *words[1:]), "git"
    if not words or not (_is_one_of(words[0], wanted[0]) or _is_one_of(name, wanted[0])):
        # Any program may run its words; where a rule names one word only, too many other things have that name.
        further = range(1, len(words)) if len(wanted) > 1 and name not in _TAKES_WORDS else ()
        behind = (words[at:] for at in further if _is_one_of(os.path.basename(words[at]), wanted[0]))
        return any(is_begun_by(one, wanted) for one in behind)
    same = _SAME_AS.get(" ".join(map(str, wanted[:2])), (wanted[1:2],))
    known, given = HARMLESS.get(name), words[1:]
    flags = [one for one in wanted[1:] if isinstance(one, str) and one[:1] == "-"]  # these stand in any place
    verbs = ([one for one in (*some, *wanted[2:]) if one not in flags] for some in same)
    return any(_is_reached(given, some, known) for some in verbs) and all(_has_flag(given, one) for one in flags)


def _has_flag(words: Sequence[str], wanted: str) -> bool:
    """Return True if options may say the same as a wanted one: cut short, among other letters, or apart (`-r -f`)."""
    if any(is_unknown(word) and _may_be(word, wanted) for word in words):
        return True
    options = [word.partition("=")[0] for word in words if word.startswith("-")]
    some = (one.replace("R", "r") for one in (*options, wanted))
    short = [_LETTERS.get(one, one[1:] if len(one) <= _MOST_LETTERS else "") for one in some]
    said = any(one == wanted or (len(one) > 3 and wanted.startswith(one)) for one in options)
    return said or (short[-1].isalpha() and {*"".join(short[:-1])}.issuperset(short[-1]))


def is_unknown(word: str) -> bool:
    """Return True for the text of a word that is known only when it runs."""
    return word == FED or not {*"$`*?["}.isdisjoint(word)


def _may_be(word: str, wanted: str | tuple[str, ...]) -> bool:
    """Return True if a word may be a wanted one: whatever stands behind its known begin, or as a pattern of names."""
    known = "" if word == FED else re.split(r"[$`]", word.replace('"', ""), maxsplit=1)[0]
    some = (wanted,) if isinstance(wanted, str) else wanted
    if word == FED or known != word.replace('"', ""):
        return any(one.startswith(known) for one in some)
    return any(fnmatchcase(one, word) and not one.startswith("-") for one in some)


def begins_with(words: Sequence[str], wanted: Wanted) -> bool:
    """Return True if these are the first words of a command, to the letter."""
    return len(words) >= len(wanted) and all(_is_one_of(word, one) for word, one in zip(words, wanted, strict=False))


def _is_reached(words: Sequence[str], wanted: Wanted, known: str | None) -> bool:
    """Return True if the wanted words come in their order, and only options with their values between them.

    If no options are `known`, any words may come between them, since each may be the value of an option. A word that
    is known only when it runs may stand for any words that begin as it does.
    """
    if not wanted:
        return True
    reached, after_option, anywhere, before = {0}, False, known is None, ""
    for word in words:
        may_be = is_unknown(word) and f"{before}=" not in (known or "").split()
        if may_be and any(_may_be(word, wanted[at]) for at in reached):
            return True
        option = word.startswith(("-", "+"))
        stays = anywhere or option or after_option
        reached = {
            one
            for at in reached
            for one in (at, at + 1)
            if (stays if one == at else at < len(wanted) and _is_one_of(word, wanted[at]))
        }
        if len(wanted) in reached:
            return True
        after_option, before = option and "=" not in word, word
    return False


def plain_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words with the program by its name, if it is the system's, and no harmless options before the verb."""
    if not words:
        return ()
    folder, name = os.path.split(words[0])
    if folder and folder not in SYSTEM_FOLDERS:
        return tuple(words)
    rest, known = list(words[1:]), HARMLESS.get(name, "").split()
    while rest and rest[0].startswith("-"):
        flag, equals, value = rest[0].partition("=")
        taken = 1 if equals or f"{flag}=" not in known else 2
        value = value if equals else "".join(rest[1:taken])
        leads_out = flag == "-C" and (value.startswith(("/", "~")) or ".." in value.split("/"))
        if leads_out or (flag not in known and f"{flag}=" not in known):
            break
        rest = rest[taken:]
    return (name, *rest)


def _is_one_of(word: str, wanted: str | tuple[str, ...]) -> bool:
    return word == wanted or (not isinstance(wanted, str) and word in wanted)


UNREAD = ("$(script)",)
"""Stands for the words of a text that a program runs as commands, where not all of it can be read."""
AS_WRITTEN = ("script",)
"""Stands for those of one that its form keeps harmless."""


def names_no_program(words: Sequence[str]) -> bool:
    """Return True if the words of a command tell only when it runs which program that is."""
    name = words[0].rpartition("/")[2] if words else ""
    return (is_unknown(name) and name not in ("[", "[[")) or (name == "eval" and any("$" in word for word in words))
