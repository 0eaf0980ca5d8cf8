"""What is known of a program that only reads: its harmless flags, and what its other words are.

The tables are lists of what is allowed. A flag that is not in them is not judged harmless, whatever it does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from halocline.policy.shell.tree import Word


class Role(StrEnum):
    """What a word is to a program: `NAMED` is a revision or a path, `PROGRAM` a text that it carries out."""

    TEXT = "text"
    PATH = "path"
    NAMED = "named"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Spec:
    """`flags` and `valued` are letters; `words` are long flags, each as `name`, `name=role` or `name?` (with a value or
    not). `operands` are roles, of which the last goes on; at most `most`, at least `least`. After a flag of `shifted`
    the first operand is like the others. With `ends`, `--` ends the flags; `ordered` words stay where they are. `paths`
    and `programs` are letters whose values are such. `added` is put before the operands of a command that reads whole
    folders, which the flags in `recursive` make it do. `program` and `extra` find fault. A program that `looks_up`
    answers by PATH, which an earlier command may have changed; one of `names_only` shows nothing of what is in a file.
    Flags that are `in_front` end with the first operand; one that `prints` takes what is no flag as a text.
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
    paths: str = ""
    programs: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    recursive: str = ""
    shifted: str = ""
    ordered: bool = False
    program: Callable[[str], str] | None = None
    extra: Callable[["Given"], str] | None = None
    looks_up: bool = False
    names_only: bool = False
    in_front: bool = False
    prints: bool = False

    def long_flags(self) -> dict[str, str]:
        """Each long flag with its role: empty for none, `?` for a value that may be left out."""
        return {
            name: (role or "text") if equals else ("?" if entry.endswith("?") else "")
            for entry in self.words.split()
            for name, equals, role in [entry.rstrip("?").partition("=")]
        }


@dataclass(slots=True)
class Given:
    """The words of a command, sorted. `flags` are in the form in which they are run."""

    names: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    paths: list[Word] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    split: int = -1


class Unlisted(Exception):
    """A word that is not known to be harmless; the text says why."""


def sort_words(
    spec: Spec, words: tuple[Word, ...], quote: Callable[[str], str], render: Callable[[Word], str]
) -> Given:
    """Tell flags from operands, and require all flags to be in the tables. Raises Unlisted."""
    given, rest = Given(), list(words)
    shown = frozenset(spec.flags)
    long = spec.long_flags()
    while rest:
        word = rest.pop(0)
        if word.dynamic:
            raise Unlisted(f"{word.source}: {word.dynamic}")
        text, before = word.text, len(given.flags)
        is_text = spec.prints and not (len(text) > 1 and text[0] == "-" and shown >= {*text[1:]})
        if (spec.in_front and given.operands) or is_text:
            given.operands += [word, *rest]
            given.order += map(render, (word, *rest))
            break
        if text == "--" and spec.ends:
            given.split = len(given.operands)
            given.operands += rest
            given.order += ["--", *map(render, rest)]
            break
        if text.startswith("-") and len(text) > 1 and spec.single:
            _single(spec, given, text, long, rest, quote)
        elif text.startswith("--"):
            _long(given, text, long, rest, quote)
        elif text.startswith("-") and len(text) > 1:
            _short(spec, given, text, rest, quote)
        else:
            given.operands.append(word)
            given.order.append(render(word))
        given.order += given.flags[before:]
    return given


def _long(given: Given, text: str, long: dict[str, str], rest: list[Word], quote: Callable[[str], str]) -> None:
    name, equals, value = text[2:].partition("=")
    role = long.get(name)
    if role is None:
        raise Unlisted(f"the flag --{name} is not known to be harmless")
    given.names.append(f"--{name}")
    if not equals and role not in ("", "?"):
        value, equals = _next(rest, f"--{name}"), "="
    if equals and not role:
        raise Unlisted(f"the flag --{name} takes no value")
    given.flags.append(f"--{name}={quote(value)}" if equals else f"--{name}")
    _note(given, role, value)


def _single(
    spec: Spec, given: Given, text: str, long: dict[str, str], rest: list[Word], quote: Callable[[str], str]
) -> None:
    """A flag of one dash and many letters, as `find` and `go` have them."""
    name, equals, value = text.lstrip("-").partition("=")
    role, dashes = long.get(name), text[: len(text) - len(text.lstrip("-"))]
    if role is None or (equals and not role):
        raise Unlisted(f"the flag {text} is not known to be harmless")
    given.names.append(f"-{name}")
    if not equals and role not in ("", "?"):
        value = _next(rest, text)
        given.flags += [f"{dashes}{name}", quote(value)]
    else:
        given.flags.append(f"{dashes}{name}={quote(value)}" if equals else text)
    _note(given, role, value)


def _short(spec: Spec, given: Given, text: str, rest: list[Word], quote: Callable[[str], str]) -> None:
    if spec.numbers and text[1:].isdecimal():
        given.flags.append(text)
        return
    at = 1
    while at < len(text):
        letter = text[at]
        at += 1
        if letter in spec.valued:
            value = text[at:] or _next(rest, f"-{letter}")
            given.names.append(f"-{letter}")
            given.flags += [f"-{letter}", quote(value)] if value[:1] != "-" else [f"-{letter}{quote(value)}"]
            role = Role.PATH if letter in spec.paths else Role.PROGRAM if letter in spec.programs else Role.TEXT
            _note(given, role, value)
            return
        if letter not in spec.flags:
            raise Unlisted(f"the flag -{letter} is not known to be harmless")
        given.names.append(f"-{letter}")
        given.flags.append(spec.renamed.get(f"-{letter}", f"-{letter}"))


def _next(rest: list[Word], flag: str) -> str:
    """The value of a flag in the next word. Raises Unlisted."""
    if not rest:
        raise Unlisted(f"the flag {flag} lacks its value")
    word = rest.pop(0)
    if word.value is None:
        raise Unlisted(f"{word.source}: {word.dynamic or 'a pattern as the value of a flag'}")
    return word.text


def _note(given: Given, role: str, value: str) -> None:
    if role == Role.PATH:
        from halocline.policy.shell.tree import Piece

        given.paths.append(Word(value, (Piece(value),), quoted=True))
    elif role == Role.PROGRAM:
        given.programs.append(value)
