"""The table language: the harmless flags of a program that only reads, and the types of its other words.

A table lists what is allowed. A flag that is not listed asks, and so does a value of the wrong type: the tool on this
machine may read it differently. Values are rendered attached to their flags, so that no tool takes one for an operand:

- `flags="lan"`: letters without a value.
- `valued="nc:size w?number"`: letters with a value of a type; with `?` the value is optional and must be attached to
  the letter.
- `words="quiet lines=size color?always|never merged:text arg+text"`: the same for long flags; with `:` the value may be
  omitted only at the end of the command, and with `+` a name comes before it.

A type is a name in `TYPES`, or the allowed words themselves with `|` between them.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

from halocline.policy.shell.syntax.tree import Piece, Word


class Role(StrEnum):
    """The meaning of an operand: `NAMED` is a revision or a path, `PROGRAM` is code that the tool runs."""

    TEXT = "text"
    PATH = "path"
    NAMED = "named"
    PROGRAM = "program"


_COLUMN = (
    r"(?:[prs]?gid|[prse]?uid|r?user|r?group|p?pid|pgrp|sid|sess|tpgid|comm|ucmd|ucomm|stat|state|s|%cpu|pcpu|%mem|pmem|"
    r"rss|rssize|rsz|vsz|vsize|sz|size|etimes?|cputimes?|time|lstart|start|start_time|stime|tty|tt|tname|nice|ni|pri|"
    r"nlwp|thcount|psr|cls|wchan|flags|f)(?:=[A-Za-z_]*)?"
)
"""Columns of `ps` that show neither the arguments nor the environment of a process."""
TYPES: dict[str, str] = {
    "number": r"[-+]?\d{1,18}",
    "size": r"[-+]?\d{1,18}(\.\d{1,9})?[A-Za-z]{0,3}",
    "percent": r"\d{1,9}%?(/\d{1,9}%?)?",
    "list": r"[-+\d,.:;/ ]{1,400}",
    "key": r"\d{1,6}(\.\d{1,6})?[A-Za-z]{0,9}(,\d{1,6}(\.\d{1,6})?[A-Za-z]{0,9})?",
    "names": r"[A-Za-z0-9%+][A-Za-z0-9_,.:+*%#-]{0,400}",
    "mode": r"[-/+]?[0-7ugoa+=rwxXst,-]{1,40}",
    "age": r"[-+]?\d{1,12}(\.\d{1,6})?[smhdw]?",
    "assignment": r"(?s)[A-Za-z_]\w*=.*",
    "date": r"(?s).+",
    "format": r"(?s).*",
    "text": r"(?s).*",
    "glob": r"(?s).*",
    "columns": rf"(?:{_COLUMN})(?:,(?:{_COLUMN}))*",
    "path": r"(?s).+",
    "program": r"(?s).*",
    "lines": r"(?s)[^\n]+:[^\n]+",
}
"""Types of values, each with a pattern for the whole value.

A `glob` that names secrets asks; a `path` is judged as one; a `program` is checked; the file in `lines` (`1,9:FILE`) is
judged. `date`, `format` and `text` are only printed or compared.
"""


@dataclass(frozen=True, slots=True)
class Spec:
    """The harmless forms of one program; the module docstring explains how flags are written.

    `operands` are roles, the last of which repeats; at most `most`, at least `least`. After a flag of `shifted` the
    first operand is like the others. With `ends`, `--` ends the flags; `ordered` words keep their order. `glue` joins a
    letter and its value; the values of flags in `apart` stay separate words, for tools that take them in no other way.
    `recursive` are the flags that make it read whole folders, or `always`; those in `brief` then make it show names
    only. `added` comes after its flags, but not for single files, and `excluded` after its paths. `program` and `extra`
    return a problem or nothing. A program that `looks_up` answers by PATH, which an earlier command may have changed;
    one of `names_only` shows no file contents. If flags are `in_front`, they end with the first operand; a program that
    `prints` takes everything that is not a flag as text.
    """

    flags: str = ""
    valued: str = ""
    words: str = ""
    operands: tuple[Role, ...] = (Role.PATH,)
    most: int = 1000
    least: int = 0
    ends: bool = True
    numbers: bool = False
    single: bool = False
    glue: str = ""
    apart: str = ""
    renamed: tuple[tuple[str, str], ...] = ()
    added: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    recursive: str = ""
    brief: str = ""
    shifted: str = ""
    ordered: bool = False
    program: Callable[[str], str] | None = None
    extra: Callable[["Given"], str] | None = None
    looks_up: bool = False
    names_only: bool = False
    in_front: bool = False
    prints: bool = False

    def reads_folders(self, names: Collection[str]) -> bool:
        """Return True if a command with these flags shows all files of a folder or a repository."""
        flags = self.recursive.split()
        if any(flag in names for flag in flags):
            return True
        return "always" in flags and not any(flag in names for flag in self.brief.split())

    def letters(self) -> dict[str, "Value"]:
        """Return the letters that take a value."""
        return _letters(self.valued)

    def long_flags(self) -> dict[str, "Value | None"]:
        """Return the long flags; the value is None for one that takes none."""
        return _long_flags(self.words)


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a flag: its type, and whether it is `optional` (`at_end`: only if the flag is the last word).

    A `named` value is two separate words, the first of which is a name.
    """

    kind: str
    optional: bool = False
    at_end: bool = False
    named: bool = False

    def fits(self, text: str) -> bool:
        return text in self.kind.split("|") if "|" in self.kind else bool(_pattern(self.kind).fullmatch(text))


_ENTRY = re.compile(r"([^=?:+]+)(?:([=?:+])(\S+))?")


@cache
def _letters(text: str) -> dict[str, Value]:
    found = [_ENTRY.fullmatch(entry) for entry in text.split()]
    return {letter: Value(one[3], one[2] == "?") for one in found if one for letter in one[1]}


@cache
def _long_flags(text: str) -> dict[str, Value | None]:
    found = [_ENTRY.fullmatch(entry) for entry in text.split()]
    return {one[1]: _read_value(one) if one[2] else None for one in found if one}


def _read_value(entry: re.Match[str]) -> Value:
    return Value(entry[3], entry[2] in "?:", entry[2] == ":", entry[2] == "+")


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(TYPES[kind])


@dataclass(slots=True)
class Given:
    """The sorted words of a command. `flags` are in the form in which they are run.

    `order` has flags and operands in their original order, operands as indexes; `split` counts those before `--`.
    """

    names: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    paths: list[Word] = field(default_factory=list)
    globs: list[str] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    order: list[str | int] = field(default_factory=list)
    split: int = -1

    def add_operands(self, *words: Word) -> None:
        for word in words:
            self.order.append(len(self.operands))
            self.operands.append(word)

    def add_flag(self, *parts: str) -> None:
        self.flags.extend(parts)
        self.order.extend(parts)

    def add_value(self, value: Value, text: str) -> None:
        """Record the part of a value that has to be judged."""
        match value.kind:
            case "path":
                self.paths.append(literal(text))
            case "lines":
                self.paths.append(literal(text.rpartition(":")[2]))
            case "glob":
                self.globs.append(text)
            case "program":
                self.programs.append(text)


class Unlisted(Exception):
    """A word that is not known to be harmless; the text says why."""


class NamesSecret(Unlisted):
    """A pattern that asks for files with secrets."""


def literal(text: str) -> Word:
    """Return a word that stands for itself."""
    return Word(text, (Piece(text),), quoted=True)


def sort_words(spec: Spec, words: tuple[Word, ...], quote: Callable[[str], str]) -> Given:
    """Tell flags from operands, and require all flags to be in the tables. Raises Unlisted."""
    given, rest = Given(), list(words)
    shown = frozenset(spec.flags)
    while rest:
        word = rest.pop(0)
        if word.dynamic:
            raise Unlisted(f"{word.source}: {word.dynamic}")
        text = word.text
        is_text = spec.prints and not (len(text) > 1 and text[0] == "-" and shown >= {*text[1:]})
        if (spec.in_front and given.operands) or is_text:
            given.add_operands(word, *rest)
            break
        if text == "--" and spec.ends:
            given.split = len(given.operands)
            given.order.append("--")
            given.add_operands(*rest)
            break
        if text.startswith("-") and len(text) > 1 and spec.single:
            _sort_single(spec, given, text, rest, quote)
        elif text.startswith("--"):
            _sort_long(spec, given, text, rest, quote)
        elif text.startswith("-") and len(text) > 1:
            _sort_short(spec, given, text, rest, quote)
        else:
            given.add_operands(word)
    return given


def _sort_long(spec: Spec, given: Given, text: str, rest: list[Word], quote: Callable[[str], str]) -> None:
    name, equals, attached = text[2:].partition("=")
    flag = f"--{name}"
    if name not in spec.long_flags():
        raise Unlisted(f"the flag {flag} is not known to be harmless")
    given.names.append(flag)
    value = spec.long_flags()[name]
    if value is None and equals:
        raise Unlisted(f"the flag {flag} takes no value")
    if value is None or (value.optional and not equals and not (value.at_end and rest)):
        given.add_flag(flag)
        return
    if value.named and equals:
        raise Unlisted(f"the flag {flag} takes two values")
    name_of_value = (quote(_next(rest, flag)),) if value.named else ()
    found = attached if equals else _next(rest, flag)
    _note(given, flag, value, found)
    if value.named or name in spec.apart.split():
        given.add_flag(flag, *name_of_value, quote(found))
    else:
        given.add_flag(f"{flag}={quote(found)}")


def _sort_single(spec: Spec, given: Given, text: str, rest: list[Word], quote: Callable[[str], str]) -> None:
    """Sort a flag of one dash and several letters, as in `find` and `go`."""
    name, equals, attached = text.lstrip("-").partition("=")
    long, dashes = spec.long_flags(), text[: len(text) - len(text.lstrip("-"))]
    value = long.get(name)
    if name not in long or (equals and (value is None or not spec.glue)):
        raise Unlisted(f"the flag {text} is not known to be harmless")
    given.names.append(f"-{name}")
    if value is None or (value.optional and not equals):
        given.add_flag(text)
        return
    found = attached if equals else _next(rest, text)
    _note(given, text, value, found)
    if spec.glue:
        given.add_flag(f"{dashes}{name}{spec.glue}{quote(found)}")
        return
    if found.startswith("-") and value.kind not in ("number", "size", "age", "mode"):
        raise Unlisted(f"the value of {text} starts like a flag")
    given.add_flag(f"{dashes}{name}", quote(found))


def _sort_short(spec: Spec, given: Given, text: str, rest: list[Word], quote: Callable[[str], str]) -> None:
    if spec.numbers and text[1:].isdecimal():
        given.add_flag(text)
        return
    for at, letter in enumerate(text[1:], 2):
        flag = f"-{letter}"
        value = spec.letters().get(letter)
        if value is None and letter not in spec.flags:
            raise Unlisted(f"the flag {flag} is not known to be harmless")
        given.names.append(flag)
        if value is None or (value.optional and not text[at:]):
            given.add_flag(dict(spec.renamed).get(flag, flag))
            continue
        found = text[at:] or _next(rest, flag)
        _note(given, flag, value, found)
        apart = letter in spec.apart.split()
        if apart and not found.startswith("-"):
            given.add_flag(flag, quote(found))
        elif apart or not found:
            raise Unlisted(f"the value of {flag} is empty or starts like a flag")
        else:
            given.add_flag(f"{flag}{spec.glue}{quote(found)}")
        return


def _next(rest: list[Word], flag: str) -> str:
    """Return the value of a flag from the next word. Raises Unlisted."""
    if not rest:
        raise Unlisted(f"the flag {flag} needs a value")
    word = rest.pop(0)
    if word.checked:
        raise Unlisted(f"{word.source}: the value of a flag is known only when it runs")
    if word.value is None:
        raise Unlisted(f"{word.source}: {word.dynamic or 'a flag takes no pattern as its value'}")
    return word.text


def _note(given: Given, flag: str, value: Value, text: str) -> None:
    if not value.fits(text):
        expected = f"one of {value.kind.replace('|', ', ')}" if "|" in value.kind else f"a {value.kind}"
        raise Unlisted(f"the value of {flag} is not {expected}")
    given.add_value(value, text)
