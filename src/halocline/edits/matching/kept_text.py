"""Keep the file's own characters where an edit repeats them, although the edit was written with look-alikes."""

from collections.abc import Iterator, Sequence

from halocline.edits.alignment import ALIGNED, list_opcodes
from halocline.edits.matching.indentation import Uneven
from halocline.edits.matching.similarity import fold_by_character
from halocline.edits.text import common_ends
from halocline.protocol.patterns import compile_later

_TOGETHER = 100
"""Lines above which each is compared with the one in its place only."""
_WORD = compile_later(r"[^\S\n]*\n|\w+|[^\S\n]+|[^\w\s]")


def keep_text(search: Sequence[str], found: Sequence[str], replace: Sequence[str]) -> tuple[str, ...]:
    """Return the replacement with all that it repeats of `search` as in the lines found for that. Raises Uneven."""
    if list(search) == list(found):
        return tuple(replace)
    if len(search) == len(replace) > _TOGETHER:
        rows = zip(search, found, replace, strict=True)
        return tuple(line for row in rows for line in keep_text(*([part] for part in row)))
    old, there, new = ("".join(f"{line}\n" for line in lines) for lines in (search, found, replace))
    places = _align_lines(search, found)
    kept, at, done = [], 0, 0
    for a, b, c in _find_repeats(old, new):
        if shared := [place for place in range(a, b + 1) if place in places]:
            first, last = shared[0], shared[-1]
            begin, end = max(places[first][0], done), places[last][1]
            kept += [new[at : c + first - a], there[begin:end]]
            at, done = c + last - a, end
    return tuple("".join([*kept, new[at:]]).split("\n")[:-1])


def _align_lines(search: Sequence[str], found: Sequence[str]) -> dict[int, tuple[int, int]]:
    """Map positions in the searched text to those in the found text, wherever both have a whole character."""
    places, old, there = {}, 0, 0
    for mine, theirs in zip(search, found, strict=True):
        (plain, starts), (other, others) = fold_by_character(mine), fold_by_character(theirs)
        if plain != other:
            raise Uneven(f"characters of `{mine.strip()[:60]}` differ too much; copy them exactly")
        for at in starts.keys() & others.keys():
            places[old + starts[at][1]] = (there + others[at][0], there + others[at][1])
        old, there = old + len(mine) + 1, there + len(theirs) + 1
    return {**places, old: (there, there)}


def _find_repeats(old: str, new: str) -> Iterator[tuple[int, int, int]]:
    """Yield what both texts share: where it begins and ends in the old one, and where it begins in the new one."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    a = c = 0
    for _, i, j, k, m in list_opcodes(before, after):
        left, right = "".join(before[i:j]), "".join(after[k:m])
        top, bottom = common_ends(left, right)
        if left != right and min(j - i, m - k) > ALIGNED:
            raise Uneven("with other characters, and they are too long to compare; copy them exactly, or change fewer")
        yield a, a + top, c
        a, c = a + len(left), c + len(right)
        yield a - bottom, a, c - bottom
