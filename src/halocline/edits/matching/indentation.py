"""Reindent a replacement that was written at another depth than the file's lines, if it is certain how.

SEARCH shows how the model's indentation relates to the file's. All its lines must agree, and the replacement must
clearly use the model's indentation or the file's. Anything else is `Uneven`.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import gcd

from halocline.edits.matching.similarity import indent_of

Pair = tuple[str, str]
Move = Callable[[str], str | None]
"""Maps the model's indentation to the file's; None if it has no counterpart."""
_UNITS = (2, 3, 4, 8)


class Uneven(Exception):
    """It is uncertain which indentation is meant; the text says why."""


def reindent(search: Sequence[str], found: Sequence[str], replace: Sequence[str]) -> tuple[str, ...]:
    """Return the replacement at the depth of the lines that were found for `search`. Raises Uneven."""
    pairs = [(indent_of(one), indent_of(other)) for one, other in zip(search, found, strict=True) if one.strip()]
    indents = [indent_of(line) for line in replace if line.strip()]
    if len(pairs) > 1 and pairs[0][0] == "" != pairs[0][1] and all(mine == theirs for mine, theirs in pairs[1:]):
        return _add_margin(pairs[0][1], search, replace)
    if not indents or all(mine == theirs for mine, theirs in pairs) or _is_at_home(search, pairs, replace, indents):
        return tuple(replace)
    _require_certain(pairs, indents)
    move = _find_move(pairs, indents)
    if move is None:
        raise Uneven("their indentation differs unevenly from that of SEARCH")
    return tuple(_indent_line(move, line) for line in replace)


def brings_margin(margin: str, search: Sequence[str], replace: Sequence[str]) -> bool:
    """Return True if the replacement of several lines starts with the margin that only SEARCH's first line lost."""
    mine, others = ([len(indent_of(line)) for line in part[1:] if line.strip()] for part in (search, replace))
    return bool(mine) and indent_of("".join(replace[:1])) == margin and min(others or mine) == min(mine)


def _add_margin(margin: str, search: Sequence[str], replace: Sequence[str]) -> tuple[str, ...]:
    """Return the replacement with the margin that its first line lost as that of SEARCH did. Raises Uneven."""
    if brings_margin(margin, search, replace) or not "".join(replace[:1]).strip():
        return tuple(replace)
    if indent_of(replace[0]):
        raise Uneven("SEARCH's first line lost its indentation, and it is unclear what that of the replacement means")
    return (margin + replace[0], *(margin + line if line == search[0] else line for line in replace[1:]))


def _indent_line(move: Move, line: str) -> str:
    if not line.strip():
        return line
    indent = move(indent_of(line))
    if indent is None:
        raise Uneven(f"the replacement's line `{line.strip()[:60]}` would need less than no indentation")
    return indent + line.lstrip()


def _is_at_home(search: Sequence[str], pairs: list[Pair], replace: Sequence[str], indents: list[str]) -> bool:
    """Return True if the replacement already has the file's indentation, although SEARCH does not."""
    mine, theirs = "".join(one for one, _ in pairs), "".join(other for _, other in pairs)
    given = "".join(indents)
    if given and mine and not set(given) & set(mine) and set(given) <= set(theirs):
        return True
    base = min(map(len, indents))
    if base != min(len(other) for _, other in pairs) or base <= min(len(one) for one, _ in pairs):
        return False
    homes = dict(zip([line.strip() for line in search if line.strip()], [other for _, other in pairs], strict=True))
    shared = [line for line in replace if line.strip() in homes]
    return bool(shared) and all(indent_of(line) == homes[line.strip()] for line in shared)


def _require_certain(pairs: list[Pair], indents: list[str]) -> None:
    """Raise Uneven if the replacement may have either indentation."""
    mine, theirs = (min((pair[side] for pair in pairs), key=len) for side in (0, 1))
    base = min(indents, key=len)
    if base != mine and base == theirs:
        raise Uneven(
            "it is unclear whether the replacement has the file's indentation or is meant to be deeper than SEARCH"
        )
    rest = [len(indent) for indent in indents[1:]]
    if len(pairs) == 1 and not mine and not indents[0] and rest and min(rest) >= len(theirs):
        raise Uneven(
            "SEARCH has no indentation, and it is unclear whether the replacement's other lines have the file's"
        )


def _find_move(pairs: list[Pair], indents: list[str]) -> Move | None:
    given = "".join([one for one, _ in pairs] + indents)
    theirs = "".join(other for _, other in pairs)
    if "\t" in theirs and " " not in theirs and " " in given and "\t" not in given:
        return _to_tabs(pairs, indents)
    if " " in theirs and "\t" not in theirs and "\t" in given and " " not in given:
        return _to_spaces(pairs)
    return _move_deeper(pairs) or _move_shallower(pairs)


def _move_deeper(pairs: list[Pair]) -> Move | None:
    mine, theirs = pairs[0]
    added = theirs.removesuffix(mine)
    if all(added + one == other for one, other in pairs):
        return lambda indent: added + indent
    return None


def _move_shallower(pairs: list[Pair]) -> Move | None:
    mine, theirs = pairs[0]
    removed = mine.removesuffix(theirs)
    if all(removed + other == one for one, other in pairs):
        return lambda indent: indent.removeprefix(removed) if indent.startswith(removed) else None
    return None


def _to_tabs(pairs: list[Pair], indents: list[str]) -> Move | None:
    sizes = [len(one) for one, _ in pairs] + [len(indent) for indent in indents]
    unit = gcd(*sizes)
    best = _move_to_tabs(pairs, unit)
    if best is None:
        return None
    # A smaller unit may explain the same lines without moving them; then both must give the same result.
    others = [other for size in _UNITS if not unit % size and (other := _move_to_tabs(pairs, size)) and other[1] == 0]
    outcomes = {tuple(map(move, indents)) for move, _ in (best, *others)}
    return best[0] if len(outcomes) == 1 else None


def _move_to_tabs(pairs: list[Pair], unit: int) -> tuple[Move, int] | None:
    """Return the move from spaces to tabs, and by how many tabs the place is deeper."""
    depths = {len(other) - len(one) // unit for one, other in pairs}
    if len(depths) != 1:
        return None
    (deeper,) = depths

    def move(indent: str) -> str | None:
        depth = len(indent) // unit + deeper
        return "\t" * depth if depth >= 0 else None

    return move, deeper


def _to_spaces(pairs: list[Pair]) -> Move | None:
    by_depth = sorted({(len(one), len(other)) for one, other in pairs})
    steps = {(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(by_depth) if b[0] != a[0]}
    if len({depth for depth, _ in by_depth}) != len(by_depth) or len(steps) > 1:
        return None
    depth, size = by_depth[0]
    unit = int(steps.pop()) if steps else size // depth if depth and not size % depth else 0
    if unit not in _UNITS:
        return None

    def move(indent: str) -> str | None:
        length = size + (len(indent) - depth) * unit
        return " " * length if length >= 0 else None

    return move
