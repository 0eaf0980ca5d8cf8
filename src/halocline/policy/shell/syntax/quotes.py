"""Decode the text of `$'…'` as bash does."""

_PLAIN = dict(zip("abefnrtvE\\'\"?", "\a\b\x1b\f\n\r\t\v\x1b\\'\"?", strict=True))
_OCTAL = frozenset("01234567")
_HEX = frozenset("0123456789abcdefABCDEF")
_LENGTHS = {"x": 2, "u": 4, "U": 8}


def decode_ansi(text: str) -> str:
    """Decode what is between `$'` and `'`. A NUL ends the text, as in bash. Raises ValueError for invalid text."""
    found = bytearray()
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\" or at == len(text):
            found += char.encode()
            continue
        char = text[at]
        at += 1
        if char in _PLAIN:
            found += _PLAIN[char].encode()
        elif char in _OCTAL:
            digits = _take(text, at - 1, 3, _OCTAL)
            at += len(digits) - 1
            found.append(int(digits, 8) & 0xFF)
        elif char == "c" and at < len(text):
            at += _control(text, at, found)
        elif char in _LENGTHS and (digits := _take(text, at, _LENGTHS[char], _HEX)):
            at += len(digits)
            number = int(digits, 16)
            found += bytes([number]) if char == "x" else chr(number).encode()
        else:
            found += f"\\{char}".encode()
    return found.partition(b"\0")[0].decode()


def _take(text: str, at: int, most: int, letters: frozenset[str]) -> str:
    end = at
    while end < min(len(text), at + most) and text[end] in letters:
        end += 1
    return text[at:end]


def _control(text: str, at: int, found: bytearray) -> int:
    """Decode `\\cX`; return how many characters were used."""
    char = text[at]
    if not char.isascii():
        raise ValueError("a control character for a non-ASCII letter")
    used = 2 if char == "\\" and text[at + 1 : at + 2] == "\\" else 1
    found.append(0x7F if char == "?" else ord(char.upper()) & 0x1F)
    return used
