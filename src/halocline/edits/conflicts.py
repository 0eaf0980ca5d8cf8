"""Show edits without a certain place: what they search for, what is there instead, what they would put there."""

from collections.abc import Sequence
from typing import NamedTuple

from halocline.edits.edit import Edit
from halocline.edits.matching.locate import Locator, Miss
from halocline.edits.matching.nearest import nearest_line

MOST = 20
AROUND = 2
"""Context lines shown around the nearest place."""


class Conflict(NamedTuple):
    """One edit and `why` it has no place. `there` are the nearest lines, from `first` on; none if none are similar."""

    name: str
    why: str
    search: tuple[str, ...]
    replace: tuple[str, ...]
    first: int = 0
    there: tuple[str, ...] = ()


def find_conflicts(view: str, edits: Sequence[Edit]) -> list[Conflict]:
    """Return the edits that have no place in this text, at most `MOST`. Lines count from 1."""
    locator = Locator(view)
    places = [place for edit in edits for place in locator.places(edit)]
    return [_describe_conflict(locator, place) for place in places if isinstance(place, Miss)][:MOST]


def _describe_conflict(locator: Locator, miss: Miss) -> Conflict:
    edit, lines = miss.edit, locator.lines
    near = -1 if edit.is_blank else nearest_line(lines, miss)
    if near < 0:
        return Conflict(edit.title, miss.why, edit.search, edit.replace)
    low, high = max(0, near - AROUND), min(lines.count, near + len(edit.search) + AROUND)
    return Conflict(edit.title, miss.why, edit.search, edit.replace, low + 1, tuple(lines.texts[low:high]))
