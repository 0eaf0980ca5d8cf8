"""Read words as bash does: quotes, backslashes and braces. What is not fully understood raises.

`expansions` reads what begins with `$` and the like, `parse` builds commands of words. No character is skipped: each
one goes into a part of a word, or is a line continuation.
"""

from halocline.policy.shell.syntax.braces import TooMany, expand_braces
from halocline.policy.shell.syntax.cursor import NotUnderstood
from halocline.policy.shell.syntax.expansions import Expansions
from halocline.policy.shell.syntax.quotes import decode_ansi
from halocline.policy.shell.syntax.tree import Part, Piece, Word
from halocline.policy.shell.syntax.words import Unit, make_unexpanded_word, make_word
from halocline.protocol.patterns import compile_later

META = frozenset(" \t\n;&|<>()")
_SIMPLE = compile_later(r"[A-Za-z0-9_./,:=@%+-]+")


class Scanner(Expansions):
    """Reads a text from start to end."""

    def words(self) -> list[Word]:
        """Read the word that starts here, or the words that its braces expand to.

        Extended patterns are read even if the shell has them switched off.
        """
        begin = self._at
        units = self._units(extended=True)
        source = self._text[begin : self._at]
        if "{" not in source:
            return [make_word(source, units)]
        try:
            found = expand_braces(tuple(text for text, _ in units))
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

    def _unit(self, char: str) -> tuple[Part, ...]:
        match char:
            case "\\":
                return (self._read_escape(),)
            case "'":
                return (self._single(),)
            case '"':
                return self._double()
            case "`":
                return (self._read_backquotes(quoted=False),)
            case "$":
                return self._dollar(quoted=False)
        self._at += 1
        return (Piece(char),)

    def _read_escape(self) -> Piece:
        if self._at + 1 == len(self._text):
            self._at += 1
            return Piece("\\", quoted=True)
        self._at += 2
        return Piece(self._text[self._at - 1], quoted=True)

    def _single(self) -> Piece:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise NotUnderstood("a quote is not closed")
        text = self._text[self._at + 1 : end]
        self._at = end + 1
        return Piece(text, quoted=True)

    def _ansi(self) -> Piece:
        begin = self._at
        while self._at < len(self._text) and self._text[self._at] != "'":
            self._at += 2 if self._text[self._at] == "\\" else 1
        if self._at >= len(self._text):
            raise NotUnderstood("a quote is not closed")
        self._at += 1
        try:
            return Piece(decode_ansi(self._text[begin : self._at - 1]), quoted=True)
        except (ValueError, OverflowError):
            raise NotUnderstood("it contains an invalid character") from None

    def _double(self) -> tuple[Part, ...]:
        self._at += 1
        parts = self.quoted_text('"')
        self._at += 1
        return (Piece("", quoted=True), *parts)

    def quoted_text(self, end: str) -> list[Part]:
        """Read text between double quotes, or of a heredoc (which ends with the text)."""
        parts: list[Part] = []
        chars: list[str] = []
        while self._at < len(self._text) and (char := self._text[self._at]) != end:
            if char == "\\":
                if not self._continues():
                    chars.append(self._backslash(end))
            elif char in "`$":
                parts += [Piece("".join(chars), quoted=True)] if chars else []
                chars = []
                within = bool(end)
                parts += (
                    [self._read_backquotes(quoted=True, within=within)] if char == "`" else self._dollar(quoted=True)
                )
            else:
                chars.append(char)
                self._at += 1
        if end and self._at >= len(self._text):
            raise NotUnderstood("a quote is not closed")
        return [*parts, Piece("".join(chars), quoted=True)] if chars else parts

    def _backslash(self, end: str) -> str:
        following = self._peek(2)[1:]
        taken = following in (*"$`\\", end) and following != ""
        self._at += 2 if taken else 1
        return following if taken else "\\"
