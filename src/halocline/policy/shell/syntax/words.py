"""Build words from what the scanner read: units of text with their parts, in which patterns are still to be found."""

import re
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace

from halocline.policy.shell.syntax.tree import Assignment, Expansion, Kind, Part, Piece, Word
from halocline.protocol.patterns import compile_later

DECLARES = frozenset({"declare", "typeset", "local", "export", "readonly"})
"""Builtins whose words may be assignments."""
EXPANDS = "its value is known only when it runs"
BRACES = "its braces expand to too many words"
BRACES_ANYWHERE = "its braces expand to too many words, which may lead anywhere"
ODD = "it contains a pattern that is not supported"
_PLAIN_CLASS = compile_later(r"\[[!^]?[A-Za-z0-9_.\-]+\]")
Unit = tuple[str, tuple[Part, ...]]


def make_word(source: str, units: list[Unit]) -> Word:
    """Build a word from its parts, with patterns marked."""
    parts, odd = _with_patterns(units)
    pieces = join_pieces([part for part in parts if isinstance(part, Piece)])
    expansions = [part for part in parts if isinstance(part, Expansion)]
    scripts = tuple(script for part in expansions for script in part.scripts)
    first = parts[0] if parts else Piece("")
    quoted = isinstance(first, Piece) and first.quoted
    could = (Word(source, pieces, quoted=quoted),) if odd and not expansions else ()
    dynamic = EXPANDS if expansions else odd
    return Word(source, pieces, dynamic, quoted, scripts, parts=tuple(parts), could=could)


def _with_patterns(units: list[Unit]) -> tuple[list[Part], str]:
    parts: list[Part] = []
    odd, at = "", 0
    while at < len(units):
        text, found = units[at]
        at += 1
        if text in ("*", "?"):
            parts.append(Piece(text, active=True))
        elif text == "[" and (end := _class_end(units, at)):
            whole = "".join(one for one, _ in units[at - 1 : end])
            if _PLAIN_CLASS.fullmatch(whole):
                parts.append(Piece(whole, active=True))
                at = end
            else:
                odd = ODD
                parts.append(Piece("*", active=True))
                parts += (part for _, inside in units[at:end] for part in inside if isinstance(part, Expansion))
                at = end
        else:
            parts += found
    return _merge_parts(parts), odd


def _class_end(units: list[Unit], at: int) -> int:
    """Return the index after the bracket that closes a character class; 0 if none does."""
    begin = at + (at < len(units) and units[at][0] in ("!", "^"))
    number = begin + 1 if not _opens_named(units, begin) else begin
    while number < len(units):
        if _opens_named(units, number):
            number = _named_end(units, number)
        elif units[number][0] == "]":
            return number + 1
        else:
            number += 1
    return 0


def _opens_named(units: list[Unit], at: int) -> bool:
    """Return True at a class with a name in a set, such as `[:alpha:]`."""
    return [text for text, _ in units[at : at + 2]] in (["[", ":"], ["[", "."], ["[", "="])


def _named_end(units: list[Unit], at: int) -> int:
    """Return the index after the class with a name that begins here, or after its first two characters."""
    sign = units[at + 1][0]
    ends = (number for number in range(at + 3, len(units)) if (units[number - 1][0], units[number][0]) == (sign, "]"))
    return next(ends, at + 1) + 1


def _merge_parts(parts: list[Part]) -> list[Part]:
    merged: list[Part] = []
    for _, some in groupby(parts, lambda part: part.quoted if isinstance(part, Piece) else None):
        group = list(some)
        merged += join_pieces(part for part in group if isinstance(part, Piece)) or group
    return merged


def join_pieces(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Join neighbors of the same kind."""
    merged: list[Piece] = []
    for active, group in groupby(pieces, attrgetter("active")):
        first, *more = group
        text = "".join([first.text, *[one.text for one in more]])
        merged.append(Piece(text, active, first.quoted and all(one.quoted for one in more)) if more else first)
    return tuple(merged)


def make_unexpanded_word(source: str, units: list[Unit]) -> Word:
    """Build a word whose braces expand to too many: what stands between the first and the last may be anything."""
    marks = [number for number, (text, _) in enumerate(units) if text in ("{", "}")]
    head, middle, tail = units[: marks[0]], units[marks[0] : marks[-1] + 1], units[marks[-1] + 1 :]
    within = make_word("".join(text for text, _ in middle), middle)
    braces = Expansion(Kind.BRACES, within.source, argument=within, scripts=within.scripts)
    parts = (*make_word("", head).parts, braces, *make_word("", tail).parts)
    reason = BRACES_ANYWHERE if "/" in within.source or within.dynamic else BRACES
    return Word(source, dynamic=reason, scripts=make_word(source, units).scripts, parts=parts)


def make_declared_word(one: Assignment, source: str) -> Word:
    """Return `name=value` after `declare` and the like as one word; its value is not split or globbed."""
    if one.values is not None or one.subscript is not None:
        scripts = [script for word in (*(one.values or ()), one.subscript) if word for script in word.scripts]
        return Word(source, dynamic=EXPANDS, scripts=(*one.value.scripts, *scripts))
    name = Piece(f"{one.name}{'+' if one.adds else ''}=", quoted=True)
    parts = [part for number, part in enumerate(one.value.parts) for part in _of_home(part, first=not number)]
    parts = [replace(part, quoted=True) for part in parts]
    word = one.value
    return Word(source, (name, *word.pieces), word.dynamic, False, word.scripts, parts=(name, *parts))


def _of_home(part: Part, *, first: bool) -> list[Part]:
    """Return a value's leading tilde as the home folder that it stands for."""
    if not first or not isinstance(part, Piece) or part.quoted or not re.match(r"~(/|$)", part.text):
        return [part]
    return [Expansion(Kind.VARIABLE, "~", name="HOME"), Piece(part.text[1:])]
