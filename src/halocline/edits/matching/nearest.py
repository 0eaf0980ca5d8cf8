"""Find what a failed edit was probably meant for, for the model that wrote it and for a person who looks."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from halocline.edits.edit import Edit
from halocline.edits.matching.lines import Lines
from halocline.edits.matching.locate import Locator, Miss
from halocline.edits.matching.similarity import as_is, describe_difference, folded_trimmed

_SHOWN, _REPORTED = 12, 3
_SEARCHED, _COMPARED = 20_000, 5_000
_LINE = 200
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


def explain_miss(lines: Lines, miss: Miss) -> str:
    """Return more text about a miss: the numbered lines that were probably meant and how they differ, or nothing."""
    edit = miss.edit
    if edit.is_blank or "times (" in miss.why or "overlaps" in miss.why:
        return ""
    if (at := _already_there(lines, edit)) is not None:
        return f" Its replacement is already there, at line {at + 1}: was it applied before?"
    if (first := nearest_line(lines, miss)) < 0:
        return ""
    shown = lines.texts[first : min(first + min(len(edit.search), _SHOWN), lines.count)]
    numbered = "\n".join(f"{number} | {line[:_LINE]}" for number, line in enumerate(shown, first + 1))
    return f" The nearest lines are:\n{numbered}{_list_differences(lines, edit.search, first)}"


def nearest_line(lines: Lines, miss: Miss) -> int:
    """Return the first line (from 0) of the place that a miss was probably meant for; -1 if nothing is similar."""
    first = next((line for line in miss.lines if line is not None), -1)
    return first if first >= 0 else _best_window(lines, miss.edit.search)


def _already_there(lines: Lines, edit: Edit) -> int | None:
    if not "".join(edit.replace).strip():
        return None
    return next(iter(lines.in_form(as_is).places(edit.replace)), None)


def _list_differences(lines: Lines, search: Sequence[str], first: int) -> str:
    """Describe the first lines that differ."""
    pairs = zip(range(first, min(first + len(search), lines.count)), search, strict=False)
    found = [f"\nLine {at + 1}: {why}." for at, line in pairs if (why := describe_difference(lines.texts[at], line))]
    more = f"\nAnd {len(found) - _REPORTED} more lines differ." if len(found) > _REPORTED else ""
    return "".join(found[:_REPORTED]) + more


def _best_window(lines: Lines, search: Sequence[str]) -> int:
    """Return the line (from 0) where most of the searched lines are together; by similarity if none is in the file."""
    there = lines.in_form(folded_trimmed).lines[:_SEARCHED]
    wanted = [folded_trimmed(line) for line in search]
    counts = Counter(line for line in wanted if line)
    if not counts:
        return -1
    if not any(line in counts for line in there):
        longest = max(counts, key=len)
        at = _most_alike(there, longest)
        return max(0, at - wanted.index(longest)) if at >= 0 else -1
    scores = _window_scores(there, counts, len(search))
    best = max(scores)
    ties = [i for i, score in enumerate(scores) if score == best]
    return max(
        ties[:_SEARCHED],
        key=lambda i: (sum(a == b for a, b in zip(there[i : i + len(wanted)], wanted, strict=False)), -i),
    )


def _window_scores(lines: Sequence[str], wanted: Counter[str], size: int) -> list[int]:
    """Count, for every window of `size` lines, how many of the wanted lines it has."""
    held: Counter[str] = Counter()
    score, scores = 0, []
    for i, line in enumerate(lines):
        if line in wanted:
            score += held[line] < wanted[line]
            held[line] += 1
        if i >= size and (gone := lines[i - size]) in wanted:
            held[gone] -= 1
            score -= held[gone] < wanted[gone]
        if i >= size - 1:
            scores.append(score)
    return scores or [0]


def _most_alike(lines: Sequence[str], wanted: str) -> int:
    from difflib import get_close_matches  # heavy, and only needed when an edit fails

    compared = lines[:_COMPARED]
    close = get_close_matches(wanted, set(compared), n=1, cutoff=0.6)
    return compared.index(close[0]) if close else -1
