"""The table language: the harmless flags of a program that only reads, and the types of its other words.

A table lists what is allowed. A flag that is not listed asks, and so does a value of the wrong type: the tool on this
machine may read it differently. Values are rendered attached to their flags, so that no tool takes one for an operand:

- `flags="lan"`: letters without a value.
- `valued="nc:size w?number"`: letters with a value of a type; with `?` the value is optional and must be attached to
  the letter.
- `words="quiet lines=size color?always|never merged:text arg+text"`: the same for long flags; with `:` the value may be
  omitted only at the end of the command, and with `+` a name comes before it.

A type is a name in `specs.txt`, or the allowed words themselves with `|` between them.
"""

import re
from collections.abc import Callable, Collection
from enum import StrEnum
from functools import cache

from msgspec import Struct, field

from halocline.policy.commands import Rule
from halocline.policy.shell.syntax.tree import Word, literal
from halocline.policy.word_tables import read_lines, read_pairs
from halocline.protocol.patterns import compile_later


class Role(StrEnum):
    """The meaning of an operand: `NAMED` is a revision or a path, `PROGRAM` is code that the tool runs."""

    TEXT = "text"
    PATH = "path"
    NAMED = "named"
    PROGRAM = "program"


TYPES = read_pairs(read_lines(__file__)["types"])


class Spec(Struct, frozen=True):
    """The harmless forms of one program; the module docstring explains how flags are written.

    `operands` are roles, the last of which repeats; at most `most`, at least `least`. After a flag of `shifted` the
    first operand is like the others. With `ends`, `--` ends the flags; `ordered` words keep their order. `glue` joins a
    letter and its value; the values of flags in `apart` stay separate words, for tools that take them in no other way.
    `recursive` are the flags that make it read whole folders, or `always`; those in `brief` then make it show names
    only. With the flags of `listing`, or `always`, git lists names of files; `paths` says where its operands are paths.
    `added` comes after its flags, but not for single files. `program` and `extra` return a problem or nothing. A
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
    listing: str = ""
    paths: str = ""
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
        flags, brief = self.recursive.split(), self.brief.split()
        return not {*flags}.isdisjoint(names) or ("always" in flags and {*brief}.isdisjoint(names))

    def lists_names(self, names: Collection[str]) -> bool:
        """Return True if git lists the names of files with these flags."""
        return not {*self.listing.split()}.isdisjoint((*names, "always"))


class Value(Struct, frozen=True):
    """The value of a flag: its type, and whether it is `optional` (`at_end`: only if the flag is the last word).

    A `named` value is two separate words, the first of which is a name.
    """

    kind: str
    optional: bool = False
    at_end: bool = False
    named: bool = False

    def fits(self, text: str) -> bool:
        if "|" in self.kind:
            return text in self.kind.split("|")
        return re.fullmatch(TYPES[self.kind].replace("COLUMN", f"(?:{TYPES['column']})"), text) is not None


_ENTRY = compile_later(r"([^=?:+]+)(?:([=?:+])(\S+))?")


@cache
def read_letters(text: str) -> dict[str, Value]:
    """Return the letters of a table that take a value."""
    found = [_ENTRY.fullmatch(entry) for entry in text.split()]
    return {letter: Value(one[3], one[2] == "?") for one in found if one for letter in one[1]}


@cache
def read_long_flags(text: str) -> dict[str, Value | None]:
    """Return the long flags of a table; the value is None for one that takes none."""
    rows = [one.groups() for entry in text.split() if (one := _ENTRY.fullmatch(entry))]
    return {name: Value(kind, sign in "?:", sign == ":", sign == "+") if sign else None for name, sign, kind in rows}


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

    rule = Rule.SECRET


class NamesHidden(Unlisted):
    """A form of git that may list hidden names."""

    rule = Rule.HISTORY
