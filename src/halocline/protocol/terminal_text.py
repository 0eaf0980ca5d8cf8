"""Strips terminal control sequences from text, or all but its colors, or all that is not seen; pure."""

import re
from collections.abc import Callable
from itertools import groupby

from halocline.protocol.patterns import compile_later

_SEQUENCE = (
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colors, cursor movement
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC and other strings: titles, links
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"  # every control character but tab, LF and CR
)


_LONGEST_WORD = 40
_WIDEST = 200
"""Most columns that a line leaves empty by moving."""


def plain_output(text: str) -> str:
    """Return the text as a terminal finally shows it: no control sequences, and only the last state of a line."""
    if not _MOVES.search(text):
        return re.sub(_SEQUENCE, "", text)
    return "\n".join(
        re.sub(_SEQUENCE, "", line) if not _MOVES.search(line) else "".join(letter for letter, _ in _draw(line, "")[0])
        for line in text.replace("\r\n", "\n").split("\n")
    )


def plain_text(text: str, most: int) -> str:
    """Remove invisible characters, and keep whole words of at most `most` characters."""
    seen = text[: 2 * most]
    if not (seen.isascii() and seen.replace("\n", "").isprintable()):
        seen = "".join(sign for sign in seen if sign in "\n\t" or not _is_hidden(sign))
    seen = seen.strip()
    return cut_words(seen, most) if len(text) <= 2 * most else cut_words(seen + " …", most)


def cut_words(text: str, most: int) -> str:
    """Cut a text behind a word, so that it has at most `most` characters; a word that is long itself is cut."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    end = 0 if text[most - 1].isspace() else max(head.rfind(" "), head.rfind("\n"))
    return (head[:end] if end > max(0, most - _LONGEST_WORD) else head).rstrip() + "…"


def _is_hidden(sign: str) -> bool:
    import unicodedata  # only needed for other scripts

    return unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Co", "Cn") or 0xFE00 <= ord(sign) <= 0xFE0F


_PIECE = compile_later(
    rf"\x1b\[([0-9;:]*)m|([^\x00-\x08\n-\x1f\x7f-\x9f]+)|\x1b\[(\d{{0,4}})([CDGK])|[\r\b]|{_SEQUENCE}"
)
_MOVES = compile_later(r"[\r\x08]|\x1b\[\d{0,4}[CDGK]")
_FLAGS = {1: "1", 2: "2", 3: "3", 4: "4", 7: "7"}
_ENDS = {22: "12", 23: "3", 24: "4", 27: "7"}
_RESET = "\x1b[0m"
_NEAREST = {(r, g, b): 30 + r + 2 * g + 4 * b for r in (0, 1) for g in (0, 1) for b in (0, 1)}


def colored_output(text: str) -> str:
    """Return `plain_output` of the text with the colors and the weight of its letters, as a terminal shows them.

    Nothing else is kept: no background, which could hide letters, no link, no movement. Each line stands for itself:
    its first letter says how it looks, and its end says that nothing does. Without colors it is `plain_output`.
    """
    if "\x1b[" not in text:
        return plain_output(text)
    lines: list[str] = []
    look = ""
    for line in text.split("\n"):
        cells, look = _draw(line, look)
        shown = ""
        parts: list[str] = []
        for color, letters in groupby(cells, key=lambda cell: cell[1]):
            if color != shown:
                parts.append(f"{_RESET if shown else ''}\x1b[{color}m" if color else _RESET)
                shown = color
            parts += (letter for letter, _ in letters)
        lines.append("".join([*parts, _RESET] if shown else parts))
    return "\n".join(lines)


def _draw(line: str, look: str) -> tuple[list[tuple[str, str]], str]:
    """Return what a terminal shows of a line, each letter with its look, and the look at its end.

    CR and backspace move, so that what follows takes the place of what is there.
    """
    cells: list[tuple[str, str]] = []
    at = 0
    for piece in _PIECE.finditer(line):
        number, does = int(piece[3] or 0), piece[4]
        if piece[1] is not None:
            look = _change_look(look, piece[1])
        elif piece[2]:
            cells += [(" ", "")] * min(at - len(cells), _WIDEST)
            cells[at : at + len(piece[2])] = [(letter, look) for letter in piece[2]]
            at += len(piece[2])
        elif does == "K":
            cells[at if number == 0 else 0 : at if number == 1 else len(cells)] = [(" ", "")] * (at * (number == 1))
        elif does:
            at = {"C": at + max(1, number), "D": at - max(1, number), "G": number - 1}[does]
        elif piece[0] in ("\r", "\b"):
            at = 0 if piece[0] == "\r" else at - 1
        at = min(max(at, 0), len(cells) + _WIDEST)
    return cells, look


def redact_colored(text: str, redact: Callable[[str], str]) -> str:
    """Redact a text of `colored_output`. Lines in which something was replaced lose their colors."""
    plain = plain_output(text)
    redacted = redact(plain)
    if redacted == plain:
        return text
    lines, before, after = text.split("\n"), plain.split("\n"), redacted.split("\n")
    if not len(lines) == len(before) == len(after):
        return redacted
    return "\n".join(line if old == new else new for line, old, new in zip(lines, before, after, strict=True))


def _change_look(look: str, codes: str) -> str:
    """Return the parameters of a look after more of them; unknown ones are dropped."""
    kept = set(filter(None, look.split(";")))
    numbers = [int(code or 0) for code in re.split("[;:]", codes) if len(code) < 6]
    at = 0
    while at < len(numbers):
        number = numbers[at]
        at += 1
        if number == 0:
            kept = set()
        elif number in _FLAGS:
            kept.add(_FLAGS[number])
        elif number in _ENDS:
            kept -= set(_ENDS[number])
        elif 30 <= number <= 37 or 90 <= number <= 97 or number == 39:
            kept = {one for one in kept if len(one) == 1} | ({str(number)} if number != 39 else set())
        elif number in (38, 48):
            color, at = _read_color(numbers, at)
            if number == 38 and color:
                kept = {one for one in kept if len(one) == 1} | {str(color)}
    return ";".join(sorted(kept, key=int))


def _read_color(numbers: list[int], at: int) -> tuple[int, int]:
    """Read a color of 256 or 16 million; return the nearest of the eight basic ones, and the place after it."""
    match numbers[at : at + 1]:
        case [5]:
            index = (numbers[at + 1 : at + 2] or [0])[0]
            return _name_indexed(index), at + 2
        case [2]:
            red, green, blue = (*numbers[at + 1 : at + 4], 0, 0, 0)[:3]
            return _name_nearest(red, green, blue), at + 4
    return 0, at


def _name_indexed(index: int) -> int:
    if index < 16:
        return 30 + index if index < 8 else 82 + index
    if index < 232:
        index -= 16
        return _name_nearest(*(51 * part for part in (index // 36, index // 6 % 6, index % 6)))
    return 0  # a gray, as plain text


def _name_nearest(red: int, green: int, blue: int) -> int:
    brightest, darkest = max(red, green, blue), min(red, green, blue)
    if brightest - darkest < 48:
        return 0
    middle = (brightest + darkest) / 2
    return _NEAREST[red > middle, green > middle, blue > middle]
