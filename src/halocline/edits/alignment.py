"""Which lines two versions share: the steps from one to the other, for diffs and for touching only what changes."""

from collections.abc import Sequence

from halocline.edits.text import common_length

Opcode = tuple[str, int, int, int, int]
_ALIGNED = 3_000


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """The steps from old to new. Equal beginnings and ends are set apart first, so the costly part sees little."""
    top = common_length(old, new)
    bottom = common_length(old[top:][::-1], new[top:][::-1])
    a, b = len(old) - bottom, len(new) - bottom
    middle = [("replace", top, a, top, b)] if a > top or b > top else []
    if 1 < a - top <= _ALIGNED and 1 < b - top <= _ALIGNED and not set(old[top:a]).isdisjoint(new[top:b]):
        middle = _aligned(old[top:a], new[top:b], top)
    return [("equal", 0, top, 0, top), *middle, ("equal", a, len(old), b, len(new))]


def steps(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Only the steps that change something."""
    return [code for code in opcodes(old, new) if code[0] != "equal"]


def _aligned(old: Sequence[str], new: Sequence[str], top: int) -> list[Opcode]:
    from difflib import SequenceMatcher  # heavy, and most edits never come here

    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(tag, a + top, b + top, c + top, d + top) for tag, a, b, c, d in codes]
