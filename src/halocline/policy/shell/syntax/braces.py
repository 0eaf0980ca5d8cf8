"""Expand unquoted braces as bash does: on the text of a word, before anything else in it is read."""

import re
from collections.abc import Callable
from itertools import pairwise, product

from halocline.protocol.patterns import compile_later

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
