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
from enum import StrEnum
from functools import cache

from msgspec import Struct, field

from halocline.policy.shell.syntax.tree import Piece, Word
from halocline.protocol.patterns import compile_later


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
    "suffix": r"[\w.~+-]{1,20}",
    "program": r"(?s).*",
    "lines": r"(?s)[^\n]+:[^\n]+",
}
"""Types of values, each with a pattern for the whole value.

A `glob` that names secrets asks; a `path` is judged as one; a `program` is checked; the file in `lines` (`1,9:FILE`) is
judged. `date`, `format` and `text` are only printed or compared.
"""


class Spec(Struct, frozen=True):
    """The harmless forms of one program; the module docstring explains how flags are written.

    `operands` are roles, the last of which repeats; at most `most`, at least `least`. After a flag of `shifted` the
    first operand is like the others. With `ends`, `--` ends the flags; `ordered` words keep their order. `glue` joins a
    letter and its value; the values of flags in `apart` stay separate words, for tools that take them in no other way.
    `recursive` are the flags that make it read whole folders, or `always`; those in `brief` then make it show names
    only. `added` comes after its flags, but not for single files. `program` and `extra` return a problem or nothing. A
    program that `looks_up` answers by PATH, which an earlier command may have changed; one of `names_only` shows no
    file contents. If flags are `in_front`, they end with the first operand; a program that `prints` takes everything
    that is not a flag as text.
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


class Value(Struct, frozen=True):
    """The value of a flag: its type, and whether it is `optional` (`at_end`: only if the flag is the last word).

    A `named` value is two separate words, the first of which is a name.
    """

    kind: str
    optional: bool = False
    at_end: bool = False
    named: bool = False

    def fits(self, text: str) -> bool:
        return text in self.kind.split("|") if "|" in self.kind else bool(_pattern(self.kind).fullmatch(text))


_ENTRY = compile_later(r"([^=?:+]+)(?:([=?:+])(\S+))?")


@cache
def read_letters(text: str) -> dict[str, Value]:
    """Return the letters of a table that take a value."""
    found = [_ENTRY.fullmatch(entry) for entry in text.split()]
    return {letter: Value(one[3], one[2] == "?") for one in found if one for letter in one[1]}


@cache
def read_long_flags(text: str) -> dict[str, Value | None]:
    """Return the long flags of a table; the value is None for one that takes none."""
    found = [_ENTRY.fullmatch(entry) for entry in text.split()]
    return {
        one[1]: Value(one[3], one[2] in "?:", one[2] == ":", one[2] == "+") if one[2] else None for one in found if one
    }


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(TYPES[kind])


class Given(Struct):
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


def needs_flag(flags: str, fault: str) -> Callable[[Given], str]:
    """Return a check that one of these flags is given."""
    return lambda given: "" if set(flags.split()) & set(given.names) else fault


def needs_words(pattern: str, fault: str) -> Callable[[Given], str]:
    """Return a check that the pattern fits all operands."""
    fits = compile_later(pattern)
    return lambda given: "" if all(fits.fullmatch(word.text) for word in given.operands) else fault


class Unlisted(Exception):
    """A word that is not known to be harmless; the text says why."""


class NamesSecret(Unlisted):
    """A pattern that asks for files with secrets."""


def literal(text: str) -> Word:
    """Return a word that stands for itself."""
    return Word(text, (Piece(text),), quoted=True)
