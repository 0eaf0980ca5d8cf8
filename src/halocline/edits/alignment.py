"""Align the lines of two versions: the steps from one to the other, for diffs and for touching only what changes."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from halocline.edits.text import common_ends

Opcode = tuple[str, int, int, int, int]
ALIGNED = 3_000
"""The most items that are compared with each other; of more, a part without common ends is one step."""


def list_opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return the steps from old to new.

    Equal starts and ends are removed first, so the costly part gets little. Long parts are split at lines that each
    version has exactly once.
    """
    top, bottom = common_ends(old, new)
    a, b = len(old) - bottom, len(new) - bottom
    found = [("equal", 0, top, 0, top)]
    for i, j, k, m in _split_parts(old[top:a], new[top:b]):
        found += _align_part(old[top + i : top + j], new[top + k : top + m], top + i, top + k)
    return _join_opcodes([*found, ("equal", a, len(old), b, len(new))])


def list_steps(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return only the steps that change something."""
    return [code for code in list_opcodes(old, new) if code[0] != "equal"]


def _is_short(old: Sequence[str], new: Sequence[str]) -> bool:
    return max(len(old), len(new)) <= ALIGNED


def _split_parts(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield spans of both that correspond; only one unless there is much to align."""
    anchors = [] if _is_short(old, new) else _find_anchors(old, new)
    for (i, k), (j, m) in pairwise([(0, 0), *anchors, (len(old), len(new))]):
        yield i, j, k, m


def _find_anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest sequence of lines that appear once in each version, in the same order in both."""
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    places = {line: k for k, line in enumerate(new) if line in once}
    pairs = [(i, places[line]) for i, line in enumerate(old) if line in once]
    # Longest increasing subsequence (patience sorting): the last pair of the best one per length, and predecessors.
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, k) in enumerate(pairs):
        length = bisect_left(ends, k)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [k]
        last[length : length + 1] = [number]
    row = []
    at = last[-1] if last else -1
    while at >= 0:
        row.append(pairs[at])
        at = before[at]
    return row[::-1]


def _align_part(old: Sequence[str], new: Sequence[str], i: int, k: int) -> Iterator[Opcode]:
    """Yield the steps of a part, offset by `i` and `k`."""
    top, bottom = common_ends(old, new)
    a, b = len(old) - bottom, len(new) - bottom
    yield ("equal", i, i + top, k, k + top)
    if min(a, b) - top > 1 and _is_short(old[top:a], new[top:b]) and not set(old[top:a]).isdisjoint(new[top:b]):
        from difflib import SequenceMatcher  # heavy, and most edits do not need it

        codes = SequenceMatcher(None, old[top:a], new[top:b], autojunk=False).get_opcodes()
        yield from ((tag, s + top + i, e + top + i, t + top + k, f + top + k) for tag, s, e, t, f in codes)
    elif a > top or b > top:
        yield ("replace", i + top, i + a, k + top, k + b)
    yield ("equal", i + a, i + len(old), k + b, k + len(new))


def _join_opcodes(codes: Iterable[Opcode]) -> list[Opcode]:
    """Join neighboring steps of one kind, and drop empty ones."""
    found: list[Opcode] = []
    for tag, a, b, c, d in codes:
        if found and found[-1][0] == tag:
            found[-1] = (tag, found[-1][1], b, found[-1][3], d)
        elif b > a or d > c:
            found.append((tag, a, b, c, d))
    return found
