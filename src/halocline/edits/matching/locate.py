"""Locate each edit, or say why its place is uncertain. An edit is never applied where it might not be meant.

Of several places, the only one inside the block named by the edit's headers wins, then the one nearest to the line that
the edit names, then, among exact ones, the only one after the previous edit. Otherwise the error lists them.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from halocline.edits.alignment import list_steps
from halocline.edits.edit import Edit, Grain
from halocline.edits.matching.indentation import Uneven, brings_margin, reindent
from halocline.edits.matching.kept_text import keep_text
from halocline.edits.matching.lines import MOST, Lines, text_before
from halocline.edits.matching.scopes import find_scopes
from halocline.edits.matching.similarity import as_is, indent_of
from halocline.edits.matching.strategies import STRATEGIES, Found, How, MatchStrategy, find_occurrences, indented
from halocline.edits.text import common_ends
from halocline.protocol.values import Value

_LISTED = 10
_NAMING_A_LINE = {
    Grain.LINES: ", or name its class or function after `@@`, or its line, as in `@@ -{line} @@`",
    Grain.WORDS: ", or name its line, as in `:start_line:{line}`, below the SEARCH marker",
    Grain.CHARACTERS: ", or name its line with the argument `line`",
}


class Splice(Value, frozen=True):
    """A replacement of characters `start` up to `end` of the view by `text`."""

    start: int
    end: int
    text: str


class Placement(Value, frozen=True):
    """An edit's place in the view, how it was found, and what changes there; `by_line` if its line chose the place."""

    edit: Edit
    start: int
    end: int
    how: How
    splices: tuple[Splice, ...]
    by_line: str = ""


class Miss(Value, frozen=True):
    """An edit without a certain place, and why. `lines` are where it nearly fits (from 0)."""

    edit: Edit
    why: str
    lines: tuple[int | None, ...] = ()


Place = Placement | Miss


class Locator:
    """Finds edits in one text, one after the other."""

    def __init__(self, view: str) -> None:
        self.lines = Lines(view)
        self._cursor = 0

    def places(self, edit: Edit) -> Sequence[Place]:
        """Return an edit's place or a miss; several places for an edit with `everywhere`."""
        if edit.is_blank:
            found: Sequence[Place] = [_place_blank(self.lines, edit)]
        else:
            found = list(self._by_strategy(edit))
        if found and isinstance(found[-1], Placement):
            self._cursor = found[-1].end
        return found

    def _by_strategy(self, edit: Edit) -> Iterator[Place]:
        everything = (0, len(self.lines))
        for strategy in STRATEGIES:
            if found := strategy.find(self.lines, edit, everything):
                found = sorted([*found, *self._rivals(edit, found)], key=lambda one: one.start)
                chosen, by_line = self._choose(edit, strategy, found)
                yield from (_make_place(self.lines, edit, strategy, one, by_line) for one in chosen)
                if not chosen:
                    yield Miss(edit, _describe_ambiguous(self.lines, edit, found))
                return
        yield Miss(edit, _describe_absent(self.lines, edit))

    def _rivals(self, edit: Edit, found: list[Found]) -> list[Found]:
        """Return places with a real blank line if a found one uses the file's end as its last, blank line."""
        if edit.at_end or not any(one.lines and one.lines[-1] == self.lines.count for one in found):
            return []
        return [one for one in indented(self.lines, edit, (0, self.lines.count)) if one not in found]

    def _choose(self, edit: Edit, strategy: MatchStrategy, found: list[Found]) -> tuple[list[Found], str]:
        """Return the places that are meant, and a remark if the edit's line chose one."""
        if edit.everywhere:
            return self._everywhere(edit, strategy, found), ""
        if len(found) == 1:
            return found, ""
        for narrowed, remark in (
            (self._under_headers(edit, strategy), ""),
            (
                self._nearest(edit, strategy, found),
                f"; of {_count_places(found)} places the nearest to line {edit.near}",
            ),
            (self._at_end(edit, found), ""),
            (self._ahead(edit, strategy, found), ""),
        ):
            if len(narrowed) == 1:
                return narrowed, remark
        return [], ""

    def _nearest(self, edit: Edit, strategy: MatchStrategy, found: list[Found]) -> list[Found]:
        """Return the places nearest to the edit's line; of very many, only one at that line."""
        if not edit.near:
            return []
        if len(found) >= MOST:
            there = strategy.find(self.lines, edit, (edit.near - 1, edit.near - 1 + len(edit.search)))
            return [one for one in there if self.lines.number(one.start) == edit.near]
        distances = [abs(self.lines.number(one.start) - edit.near) for one in found]
        return [one for one, distance in zip(found, distances, strict=True) if distance == min(distances)]

    def _everywhere(self, edit: Edit, strategy: MatchStrategy, found: list[Found]) -> list[Found]:
        if strategy.how is How.EXACT and edit.grain is Grain.CHARACTERS:
            return [Found(*one.span()) for one in re.finditer(re.escape("\n".join(edit.search)), self.lines.view)]
        return found if len(found) < MOST else []

    def _under_headers(self, edit: Edit, strategy: MatchStrategy) -> list[Found]:
        if not edit.headers:
            return []
        # A hunk may start with the header's own line.
        within = [(low - 1, high) for low, high in find_scopes(self.lines, edit.headers)]
        named = {one for scope in within for one in strategy.find(self.lines, edit, scope)}
        ahead = [one for one in named if one.start >= self._cursor]
        return ahead if len(named) != 1 and len(ahead) == 1 else list(named)

    def _at_end(self, edit: Edit, found: list[Found]) -> list[Found]:
        return [one for one in found if edit.at_end and not self.lines.view[one.end :].strip()]

    def _ahead(self, edit: Edit, strategy: MatchStrategy, found: list[Found]) -> list[Found]:
        if strategy.how is not How.EXACT or edit.headers:
            return []
        if len(found) >= MOST and found[0].lines:
            found = strategy.find(self.lines, edit, (self.lines.number(self._cursor) - 1, len(self.lines)))
        return [one for one in found if one.start >= self._cursor]


def _place_blank(lines: Lines, edit: Edit) -> Place:
    """Place an edit without search lines: an empty file's content, or a hunk placed by headers or the file's end."""
    if not lines.view.strip():
        is_exact = edit.grain is Grain.CHARACTERS and not edit.search
        text = "\n".join(edit.replace) if is_exact else "".join(f"{line}\n" for line in edit.replace)
        return Placement(edit, 0, len(lines.view), How.WHOLE_FILE, (Splice(0, len(lines.view), text),))
    if edit.at_end or edit.headers:
        return _place_insert(lines, edit)
    if edit.search:
        return Miss(edit, "its search part has only blank lines; add the lines around them")
    return Miss(edit, "its search part is empty, which works only for an empty or new file")


def _place_insert(lines: Lines, edit: Edit) -> Place:
    starts = [scope[0] for scope in find_scopes(lines, edit.headers)] if edit.headers else [lines.count]
    if edit.search or len(starts) != 1:
        return Miss(
            edit, f"it has no context lines, and its `@@` lines match {len(starts)} places; add lines around it"
        )
    at = lines.count if edit.at_end else starts[0]
    splice = _make_splice(lines.view, lines.starts, at, at, edit.replace)
    return Placement(edit, splice.start, splice.end, How.INSERTED, (splice,))


def _make_place(lines: Lines, edit: Edit, strategy: MatchStrategy, found: Found, by_line: str) -> Place:
    try:
        splices = _splice_lines(lines, edit, strategy, found) if found.lines else _splice_part(lines, edit, found)
    except Uneven as why:
        return Miss(edit, f"its lines were found, but {why}", found.lines)
    return Placement(edit, found.start, found.end, strategy.how, tuple(splices), by_line)


def _splice_part(lines: Lines, edit: Edit, found: Found) -> list[Splice]:
    margin, replace = text_before(lines.view, found.start), edit.replace or ("",)
    if not margin.strip() and brings_margin(margin, edit.search, replace):
        replace = (replace[0].removeprefix(margin), *replace[1:])
    starts = list(accumulate((len(line) + 1 for line in edit.search), initial=found.start))
    steps = list_steps(edit.search, replace)
    return [_make_splice(lines.view, starts, a, b, replace[c:d]) for _, a, b, c, d in steps]


def _splice_lines(lines: Lines, edit: Edit, strategy: MatchStrategy, found: Found) -> list[Splice]:
    """Return what changes in whole lines: of a line found leniently, only what the edit changes. Raises Uneven."""
    search: Sequence[str] = edit.search
    replace: Sequence[str] = edit.replace
    try:
        search, replace = _at_depth(lines, edit, found) if strategy.moves else (search, replace)
    except Uneven:
        if not _has_exact_changes(lines, edit, found):
            raise
    splices = []
    for _, a, b, c, d in list_steps(edit.search, edit.replace):
        region = _map_region(found.lines, a, b)
        if region is None:
            raise Uneven("not next to those that it changes")
        new = keep_text(search[a:b], lines.texts[slice(*region)], replace[c:d])
        splices.append(_make_splice(lines.view, lines.starts, *region, new))
    return splices


def _has_exact_changes(lines: Lines, edit: Edit, found: Found) -> bool:
    """True if only a hunk's context differs: all its changes replace lines that the file has once, exactly."""
    removed = [(a, b) for _, a, b, _, _ in list_steps(edit.search, edit.replace)]
    exact = lines.in_form(as_is)
    return (
        edit.grain is Grain.LINES
        and bool(removed)
        and all(
            "".join(edit.search[a:b]).strip() and exact.places(edit.search[a:b]) == [found.lines[a]] for a, b in removed
        )
    )


def _at_depth(lines: Lines, edit: Edit, found: Found) -> tuple[Sequence[str], Sequence[str]]:
    """Return both parts of an edit at the depth of the lines that were found."""
    there = [line if at is None else lines.texts[at] for line, at in zip(edit.search, found.lines, strict=True)]
    pairs = [pair for pair, at in zip(zip(edit.search, there, strict=True), found.lines, strict=True) if at is not None]
    replace = reindent([line for line, _ in pairs], [line for _, line in pairs], edit.replace)
    bare = zip(edit.search, there, strict=True)
    return [indent_of(other) + line.lstrip() if line.strip() else line for line, other in bare], replace


def _map_region(mapping: Sequence[int | None], a: int, b: int) -> tuple[int, int] | None:
    """Return the file's lines for the searched lines `a` up to `b`; None if they are not adjacent."""
    if a < b:
        there = mapping[a:b]
        first = there[0]
        return (
            (first, first + b - a) if first is not None and list(there) == list(range(first, first + b - a)) else None
        )
    before, after = mapping[a - 1] if a else None, mapping[a] if a < len(mapping) else None
    if (a and before is None) or (a < len(mapping) and after is None):
        return None
    at = after if after is not None else (before or 0) + 1
    return (at, at) if before is None or before + 1 == at else None


def _make_splice(view: str, starts: Sequence[int], first: int, end: int, new: Sequence[str]) -> Splice:
    """Replace lines `first` up to `end` by `new`, except for equal ends. `starts` ends after the last line."""
    size = len(starts) - 1
    if end < size:
        start, stop, text = starts[first], starts[end], "".join(f"{line}\n" for line in new)
    elif first < size:
        start, stop, text = starts[first], starts[size] - 1, "\n".join(new)
    else:
        start, stop, text = starts[size] - 1, starts[size] - 1, "".join(f"\n{line}" for line in new)
    before, after = common_ends(view[start:stop], text)
    return Splice(start + before, stop - after, text[before : len(text) - after])


def _describe_ambiguous(lines: Lines, edit: Edit, found: Sequence[Found]) -> str:
    numbers = [str(lines.number(one.start)) for one in found[:_LISTED]]
    where = ", ".join(numbers) + ", …" * (len(found) > _LISTED)
    more = _NAMING_A_LINE[edit.grain].format(line=numbers[-1])
    return f"its search text appears {_count_places(found)} times (lines {where}); add lines around it{more}"


def _count_places(found: Sequence[Found]) -> str:
    return "many" if len(found) >= MOST else str(len(found))


def _describe_absent(lines: Lines, edit: Edit) -> str:
    part = next(find_occurrences(lines.view, "\n".join(edit.search)), None)
    if part is None or edit.grain is Grain.CHARACTERS:
        return "its search text is not in the file"
    first = lines.number(part)
    return (
        f"line {first} contains its search text, but not as whole lines: `{lines.texts[first - 1].strip()[:80]}`; "
        "use whole lines"
    )
