"""Decode escapes as bash does: in the text of `$'…'`, and in what `echo` and `printf` print."""

import re

from halocline.protocol.patterns import compile_later

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
