"""A place in the text of a command, and the quotes there. What is not fully understood raises."""

import re

from halocline.policy.shell.syntax.tree import Node, Piece, Simple
from halocline.protocol.patterns import compile_later

DEEPEST = 60


class NotUnderstood(Exception):
    """The text, or a part of it, cannot be analyzed; says why. `before` is the tree of what comes before that part."""

    before: Node = Simple("", ())


class Cursor:
    """A text and the place up to which it is read; `depth` counts what is nested around that place."""

    def __init__(self, text: str, depth: int = 0) -> None:
        if depth > DEEPEST:
            raise NotUnderstood("it is nested too deeply")
        self._text = text
        self._at = 0
        self._depth = depth

    def _peek(self, length: int = 1) -> str:
        return self._text[self._at : self._at + length]

    def _require(self, text: str) -> None:
        if not self._text.startswith(text, self._at):
            raise NotUnderstood("it is not valid shell syntax")
        self._at += len(text)

    def _continues(self) -> bool:
        """Skip a line continuation; return True if there was one."""
        if self._text.startswith("\\\n", self._at):
            self._at += 2
            return True
        return False

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


_HEX = "[0-9a-fA-F]"
LETTERS = dict(zip("abefnrtv\\", "\a\b\x1b\f\n\r\t\v\\", strict=True))
_QUOTED_LETTERS = LETTERS | dict(zip("E'\"?", "\x1b'\"?", strict=True))


def compile_escapes(octal: str, control: str = "(?!)") -> re.Pattern[str]:
    """Return the pattern of escapes, with one for octal numbers and one for the letter of a control character."""
    numbers = rf"x({_HEX}{{1,2}})|u({_HEX}{{1,4}})|U({_HEX}{{1,8}})|{octal}"
    return compile_later(rf"\\(?:{numbers}|c({control})|(.))", re.DOTALL)


_QUOTED = compile_escapes("([0-7]{1,3})", r"\\\\|.")


def decode_ansi(text: str) -> str:
    """Decode what is between `$'` and `'`. A NUL ends the text, as in bash. Raises ValueError for invalid text."""
    found = _QUOTED.sub(_decode_quoted, text).encode("utf-8", "surrogateescape")
    return found.partition(b"\0")[0].decode()


def _decode_quoted(found: re.Match[str]) -> str:
    octal, control, letter = found[4], found[5], found[6]
    if found[1] or octal:  # a byte, perhaps a part of a character
        number = int(found[1], 16) if found[1] else int(octal, 8) & 0xFF
        return bytes([number]).decode("utf-8", "surrogateescape")
    if control:
        if not control.isascii():
            raise ValueError("a control character for a non-ASCII letter")
        return "\x7f" if control == "?" else chr(ord(control[0].upper()) & 0x1F)
    if digits := found[2] or found[3]:
        return chr(int(digits, 16)).encode().decode()
    return _QUOTED_LETTERS.get(letter, found[0])
