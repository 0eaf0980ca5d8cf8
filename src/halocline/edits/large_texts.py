"""Edit a large text by the parts that its edits name: what is between them is not split into lines. Pure.

Each gap becomes as many marks as it has lines, so line numbers stay right, and comes back as it was. Only text that is
exactly the same has a place: of another match it would not be known whether it is the only one.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from halocline.edits.edit import Edit, UnplacedEdits
from halocline.edits.matching.strategies import How
from halocline.edits.plan import Made
from halocline.edits.text import TextFile
from halocline.protocol.patterns import compile_later

Span = tuple[int, int]
_MOST, _AROUND = 20_000, 5
_MARK = "\0"
_GAP = compile_later(r"(?:\0\r?\n)+\0?|\0")
_UNSEEN = f"{_MARK} no such line"
_EXACT = "The file is so large that only text that is exactly the same is found in it."
_ADVICE = "Read those lines of the file again, then copy them exactly."


Apply = Callable[[TextFile, Sequence[Edit]], Made]
Parts = tuple[TextFile, TextFile]
"""The parts that were looked at, before the edits and after them."""


def edit_by_parts(file: TextFile, edits: Sequence[Edit], apply: Apply) -> tuple[Made, Parts]:
    """Return the file as `apply` edits it, and what was looked at.

    Raises:
        UnplacedEdits: an edit has no certain place.
    """
    gaps = list(_find_gaps(file.text, edits))
    parts = replace(file, text="".join(_mark_gaps(file, gaps)))
    try:
        made = apply(parts, [_without_headers(edit) for edit in edits])
    except UnplacedEdits as error:
        raise UnplacedEdits(f"{error.text}\n{_EXACT}", _ADVICE) from None
    after = made.file
    marked = list(_GAP.finditer(after.text))
    if len(marked) != len(gaps) or not all(one.how.startswith((How.EXACT, How.INSERTED)) for one in made.applied):
        raise UnplacedEdits(_EXACT, _ADVICE)
    whole, at = [], 0
    for (start, end), mark in zip(gaps, marked, strict=True):
        last = "" if file.text.endswith("\n", start, end) else mark[0][mark[0].rfind(_MARK) + 1 :]
        whole += [after.text[at : mark.start()], file.text[start:end], last]
        at = mark.end()
    return replace(made, file=replace(file, text="".join([*whole, after.text[at:]]))), (parts, after)


def _without_headers(edit: Edit) -> Edit:
    """Return an edit whose headers name nothing, as a gap may hide one: then only a single place is certain."""
    return replace(edit, headers=(_UNSEEN,), near=0, at_end=False) if edit.headers else edit


def _find_gaps(text: str, edits: Sequence[Edit]) -> Iterator[Span]:
    """Yield what is far from all text that an edit searches for."""
    at = 0
    for start, end in sorted(part for edit in edits if not edit.is_blank for part in _find_parts(text, edit)):
        if start > at:
            yield at, start
        at = max(at, end)
    if at < len(text):
        yield at, len(text)


def _find_parts(text: str, edit: Edit) -> Iterator[Span]:
    """Yield the searched text with lines around it. Overlapping places are within these lines."""
    around = _AROUND + len(edit.search)
    for number, found in enumerate(re.finditer(r"\r?\n".join(map(re.escape, edit.search)), text)):
        if number >= _MOST:
            why = "its search text appears very often"
            text = f"{edit.title} failed: {why}; add lines around it."
            raise UnplacedEdits(text, _ADVICE, person=f"not applied: {why}")
        start, end = found.span()
        for _ in range(around):
            start = max(text.rfind("\n", 0, start), 0)
            end = text.find("\n", end) + 1 or len(text)
        yield (text.rfind("\n", 0, start) + 1, end)


def _mark_gaps(file: TextFile, gaps: Sequence[Span]) -> Iterator[str]:
    at = 0
    for start, end in gaps:
        yield file.text[at:start]
        yield f"{_MARK}{file.eol}" * file.text.count("\n", start, end)
        yield "" if file.text.endswith("\n", start, end) else _MARK
        at = end
    yield file.text[at:]
