"""Read words as bash does: quotes, backslashes and braces. What is not fully understood raises.

`expansions` reads what begins with `$` and the like, `parse` builds commands of words. No character is skipped: each
one goes into a part of a word, or is a line continuation.
"""

import re
from collections.abc import Callable
from itertools import pairwise, product

from halocline.policy.shell.syntax.cursor import NotUnderstood
from halocline.policy.shell.syntax.expansions import Expansions
from halocline.policy.shell.syntax.tree import Part, Piece, Redirect, Word
from halocline.policy.shell.syntax.words import Unit, make_unexpanded_word, make_word
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

MOST_WORDS = 200
MOST_BRACES = 40
_NUMBERS = compile_later(r"([-+]?\d{1,9})\.\.([-+]?\d{1,9})(?:\.\.([-+]?\d{1,9}))?")
_LETTERS = compile_later(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.([-+]?\d{1,9}))?")
Units = tuple[str, ...]
"""The text of a word in units: one for each quoted string or expansion, one for every other character."""


class TooMany(Exception):
    """Braces expand to more words than are analyzed."""


def expand_braces(units: Units) -> list[Units]:
    """Return the words that a word expands to; only itself if it has no braces that expand. Raises TooMany."""
    if units.count("{") > MOST_BRACES:
        raise TooMany
    begin = 0
    while (found := _first_brace(units, begin)) is not None:
        begin, end = found
        choices = _split_choices(units[begin + 1 : end])
        if choices is None:
            begin += 1
            continue
        tails = expand_braces(units[end + 1 :])
        if len(choices) * len(tails) > MOST_WORDS:
            raise TooMany
        head = units[:begin]
        return [head + choice + tail for choice, tail in product(choices, tails)]
    return [units]


def _first_brace(units: Units, begin: int) -> tuple[int, int] | None:
    """Return the positions of the first brace that is closed and of its end."""
    for at in range(begin, len(units)):
        if units[at] == "{" and (end := _find_end(units, at)):
            return at, end
    return None


def _find_end(units: Units, at: int) -> int:
    depth = 0
    for number in range(at, len(units)):
        depth += {"{": 1, "}": -1}.get(units[number], 0)
        if not depth:
            return number
    return 0


def _split_choices(units: Units) -> list[Units] | None:
    """Return the choices between two braces; None if the braces are literal."""
    cuts, depth = [-1], 0
    for number, unit in enumerate(units):
        depth += {"{": 1, "}": -1}.get(unit, 0)
        if unit == "," and not depth:
            cuts.append(number)
    if len(cuts) == 1:
        return _expand_sequence("".join(units))
    cuts.append(len(units))
    found: list[Units] = []
    for one, two in pairwise(cuts):
        found += expand_braces(units[one + 1 : two])
        if len(found) > MOST_WORDS:
            raise TooMany
    return found


def _expand_sequence(text: str) -> list[Units] | None:
    if found := _NUMBERS.fullmatch(text):
        ends = found.groups()[:2]
        wide = max(map(len, ends)) if any(re.match(r"[-+]*0.", one) for one in ends) else 0
        return _count_steps(int(found[1]), int(found[2]), int(found[3] or 1), lambda number: f"{number:0{wide}d}")
    if found := _LETTERS.fullmatch(text):
        return _count_steps(ord(found[1]), ord(found[2]), int(found[3] or 1), chr)
    return None


def _count_steps(first: int, last: int, step: int, show: Callable[[int], str]) -> list[Units]:
    by = max(abs(step), 1) if first <= last else -max(abs(step), 1)
    numbers = range(first, last + (1 if by > 0 else -1), by)
    if len(numbers) > MOST_WORDS:
        raise TooMany
    # Special characters between `Z` and `a` are literal in a sequence.
    return [tuple(f"\\{char}" if char in "\\`[" else char for char in show(number)) for number in numbers]


META = frozenset(" \t\n;&|<>()")
_REDIRECT = compile_later(r"(\d*|\{[A-Za-z_]\w*\})(<<<|<<-|<<|<&|<>|<|>>|>&|>\||>)|(&>>|&>)")
_BACKSLASH = compile_later(r"(?<!\\)(\\\\)*\\$")
_SIMPLE = compile_later(r"[A-Za-z0-9_./,:=@%+-]+")


class Heredoc(Value, frozen=True):
    """A heredoc whose body is still to come. `at` is its position in the text."""

    at: int
    delimiter: str
    literal: bool
    tabs: bool


class Scanner(Expansions):
    """Reads words, redirections and the bodies of heredocs, blanks and comments between them."""

    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, depth)
        self._waiting: list[Heredoc] = []
        self._bodies: dict[int, str] = {}

    def words(self) -> list[Word]:
        """Read the word that starts here, or the words that its braces expand to.

        Extended patterns are read even if the shell has them switched off.
        """
        begin = self._at
        units = self._units(extended=True)
        source = self._text[begin : self._at]
        try:
            found = expand_braces(tuple(text for text, _ in units)) if "{" in source else [()]
        except TooMany:
            return [make_unexpanded_word(source, units)]
        if len(found) == 1:
            return [make_word(source, units)]
        return [self._reread("".join(one)) for one in found if one]

    def _reread(self, text: str) -> Word:
        """Read a word produced by braces, which work on text: `$a{b,c}` is `$ab` and `$ac`."""
        scanner = type(self)(text, self._depth + 1)
        word = scanner.word(extended=True)
        if scanner._at < len(text):
            raise NotUnderstood("its braces do not expand to plain words")
        return word

    def word(self, *, extended: bool = False) -> Word:
        """Read the word that starts here, with literal braces."""
        begin = self._at
        units = self._units(extended=extended)
        return make_word(self._text[begin : self._at], units)

    def _units(self, *, extended: bool) -> list[Unit]:
        """Read the parts of a word, which ends at a blank or an operator."""
        units: list[Unit] = []
        while self._at < len(self._text):
            begin, char = self._at, self._text[self._at]
            if self._continues():
                continue
            if char in "<>" and self._peek(2)[1:] == "(":
                parts: tuple[Part, ...] = (self._process(),)
            elif extended and char in "?*+@!" and self._peek(2)[1:] == "(":
                parts = (self._read_extended_pattern(),)
            elif char in META:
                return units
            elif plain := _SIMPLE.match(self._text, self._at):
                self._at = plain.end()
                units += ((one, (Piece(one),)) for one in plain.group())
                continue
            else:
                parts = self._unit(char)
            units.append((self._text[begin : self._at], parts))
        return units

    def _more_words(self) -> list[Word]:
        """Parse the words written here as one."""
        begin = self._at
        found = self.words()
        if self._at == begin:
            raise NotUnderstood("it is not valid shell syntax")
        return found

    def _some_word(self) -> Word:
        begin = self._at
        found = self.word(extended=True)
        if self._at == begin:
            raise NotUnderstood("a word is missing")
        return found

    def _skip(self, *, lines: bool = False) -> None:
        """Skip blanks, comments and line continuations; with `lines`, newlines too."""
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in " \t":
                self._at += 1
            elif char == "\n" and lines:
                self._newline()
            elif char == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            elif not self._continues():
                return

    def _newline(self) -> None:
        self._require("\n")
        self._read_bodies()

    def _redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self._text, self._at)
        if not found or (found[2] in ("<", ">") and self._text[found.end(2) : found.end(2) + 1] == "("):
            return None
        begin, self._at = self._at, found.end()
        operator, fd = found[2] or found[3], found[1] or ""
        while self._peek() in (" ", "\t") or self._continues():
            self._at += self._peek() in (" ", "\t")
        target = self._some_word()
        if operator in ("<<", "<<-"):
            return self._heredoc(begin, operator, fd, target)
        if operator in (">&", "<&") and target.source == "-":
            return Redirect(f"{operator}-", fd)
        return Redirect(operator, fd, target, target.scripts)

    def _heredoc(self, at: int, operator: str, fd: str, target: Word) -> Redirect:
        if target.dynamic or target.is_pattern or "\n" in target.source:
            raise NotUnderstood("the end marker of a heredoc is written in an unusual way")
        literal = any(char in target.source for char in "'\"\\")
        self._waiting.append(Heredoc(at, target.text, literal, operator == "<<-"))
        body = self._bodies.get(at, "")
        if literal:
            word = Word(body, (Piece(body, quoted=True),), quoted=True, parts=(Piece(body, quoted=True),))
        else:
            inside = type(self)(body, self._depth + 1)
            word = make_word(body, [("", (part,)) for part in inside.quoted_text("")])
        return Redirect(operator, fd, word, word.scripts, body)

    def _read_bodies(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            self._bodies[one.at] = self._body_of(one)

    def _body_of(self, one: Heredoc) -> str:
        """Read the lines up to the closing word, or to the end of the text."""
        lines: list[str] = []
        while self._at < len(self._text):
            line = self._line()
            while not one.literal and _BACKSLASH.search(line) and self._at < len(self._text):
                line = line[:-1] + self._line()
            line = line.lstrip("\t") if one.tabs else line
            if line == one.delimiter:
                break
            lines.append(f"{line}\n")
        return "".join(lines)

    def _line(self) -> str:
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        line = self._text[self._at : end]
        self._at = min(end + 1, len(self._text))
        return line
