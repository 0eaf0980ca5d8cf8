"""SEARCH/REPLACE on one file: locate every block, then apply all of them or none.

A block is looked for as whole lines, then as any exact text, then as whole lines that differ only in outer whitespace.
One place found is taken; several are an error, except that of several exact places the only one after the previous
block is meant. Blocks may come in any order and must not overlap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from halocline.edits.blocks import Block, parse
from halocline.edits.nearest import line_number, nearest_region
from halocline.edits.text import EditError, Offsets, TextFile, common_length

_ADVICE = "Read the part you mean, then send fewer, smaller blocks with whole lines copied exactly."


class UnplacedBlocks(EditError):
    """At least one block has no certain place. The text says how each block fared."""

    code = "unplaced_blocks"


class How(StrEnum):
    """By which rule a block found its place."""

    EXACT = "exact"
    TRIMMED = "ignoring outer whitespace"
    WHOLE_FILE = "whole file"


@dataclass(frozen=True, slots=True)
class Placement:
    """A block and the part of the view it replaces: `start` up to `end`, in characters."""

    block: Block
    start: int
    end: int
    how: How
    replacement: str


@dataclass(frozen=True, slots=True)
class Miss:
    """A block without a certain place, and why."""

    block: Block
    why: str


@dataclass(frozen=True, slots=True)
class Applied:
    """What one block became: lines `first` to `last` of the new file, from 1; `last < first` when it only deleted."""

    number: int
    how: How
    first: int
    last: int

    def __str__(self) -> str:
        where = f"lines {self.first}-{self.last}" if self.last >= self.first else f"deleted before line {self.first}"
        return f"block {self.number}: {where} ({self.how})"


def apply(file: TextFile, diff: str) -> tuple[TextFile, list[Applied]]:
    """The file with every block of `diff` applied, and where each went.

    Raises:
        MalformedBlocks: the diff cannot be parsed.
        UnplacedBlocks: a block was not found, found more than once, or overlaps another.
    """
    placements = locate(file.view, parse(diff))
    return _rebuilt(file, placements), _report(file.view, placements)


def locate(view: str, blocks: Sequence[Block]) -> list[Placement]:
    """Where each block belongs, by position.

    Raises:
        UnplacedBlocks: at least one has no certain place.
    """
    cursor, found = 0, []
    for block in blocks:
        place = _place(view, block, cursor)
        if isinstance(place, Placement):
            cursor = place.end
        found.append(place)
    found = _without_repeats(found)
    found = [_overlap(place, found) or place for place in found]
    if any(isinstance(place, Miss) for place in found):
        raise UnplacedBlocks("\n".join(_status(view, place) for place in found), _ADVICE)
    return sorted((p for p in found if isinstance(p, Placement)), key=lambda p: p.start)


def _place(view: str, block: Block, cursor: int) -> Placement | Miss:
    if block.is_blank:
        if not view.strip():
            return Placement(block, 0, len(view), How.WHOLE_FILE, "".join(f"{line}\n" for line in block.replace))
        return Miss(block, "its SEARCH part is empty, which is right only for an empty or new file")
    exact = list(_occurrences(view, "\n".join(block.search)))
    whole = [(start, end) for start, end in exact if _is_whole(view, start, end)]
    if spans := whole or exact:
        return _chosen(view, block, How.EXACT, spans, cursor)
    if spans := _trimmed(view, block):
        return _chosen(view, block, How.TRIMMED, spans, cursor)
    return Miss(block, "its SEARCH text is not in the file")


def _chosen(view: str, block: Block, how: How, spans: list[tuple[int, int]], cursor: int) -> Placement | Miss:
    ahead = [span for span in spans if span[0] >= cursor] if how is How.EXACT else []
    match ahead if len(ahead) == 1 else spans:
        case [(start, end)]:
            return _placed(view, block, how, start, end)
        case several:
            where = ", ".join(str(line_number(view, start)) for start, _ in several[:10])
            return Miss(block, f"its SEARCH text is there {len(several)} times (lines {where}); add lines around it")


def _placed(view: str, block: Block, how: How, start: int, end: int) -> Placement:
    """The span; whole lines that are replaced by none take their line ending with them."""
    if not block.replace and _is_whole(view, start, end) and end < len(view):
        end += 1
    return Placement(block, start, end, how, "\n".join(block.replace))


def _occurrences(view: str, text: str) -> Iterator[tuple[int, int]]:
    at = view.find(text)
    while at >= 0:
        yield at, at + len(text)
        at = view.find(text, at + 1)


def _is_whole(view: str, start: int, end: int) -> bool:
    return (start == 0 or view[start - 1] == "\n") and (end == len(view) or view[end] == "\n")


def _trimmed(view: str, block: Block) -> list[tuple[int, int]]:
    """Spans of whole lines, without the last ending, that equal the block's but for whitespace at both ends."""
    wanted = [line.strip() for line in block.search]
    lines = view.split("\n")
    stripped = [line.strip() for line in lines]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    size = len(wanted)
    return [
        (starts[i], starts[i + size] - 1)
        for i in range(len(lines) - size + 1)
        if stripped[i] == wanted[0] and stripped[i : i + size] == wanted
    ]


def _without_repeats(places: list[Placement | Miss]) -> list[Placement | Miss]:
    """A block written twice for the same place counts once."""
    seen: set[tuple[int, int, str]] = set()
    kept: list[Placement | Miss] = []
    for place in places:
        if isinstance(place, Placement):
            span = (place.start, place.end, place.replacement)
            if span in seen:
                continue
            seen.add(span)
        kept.append(place)
    return kept


def _overlap(place: Placement | Miss, others: list[Placement | Miss]) -> Miss | None:
    if isinstance(place, Miss):
        return None
    for other in others:
        if isinstance(other, Placement) and other is not place and _meet(place, other):
            return Miss(place.block, f"it overlaps block {other.block.number}; make one block of the two")
    return None


def _meet(one: Placement, other: Placement) -> bool:
    return one.start == other.start or (one.start < other.end and other.start < one.end)


def _status(view: str, place: Placement | Miss) -> str:
    if isinstance(place, Placement):
        return f"Block {place.block.number} would match at line {line_number(view, place.start)} ({place.how})."
    return f"Block {place.block.number} failed: {place.why}.{nearest_region(view, place.block) or ''}"


def _rebuilt(file: TextFile, placements: list[Placement]) -> TextFile:
    """The file's own text with each changed part replaced; everything else keeps its bytes."""
    offsets, pieces, at = Offsets(file.text), [], 0
    for place in placements:
        start, end, replacement = _changed_part(file.view, place)
        pieces += [file.text[at : offsets.original(start)], replacement.replace("\n", file.eol)]
        at = offsets.original(end)
    return TextFile("".join([*pieces, file.text[at:]]), file.encoding, file.bom)


def _changed_part(view: str, place: Placement) -> tuple[int, int, str]:
    """The placement without what it leaves as it was, so that lines repeated for context keep their endings."""
    old, new = view[place.start : place.end], place.replacement
    before = common_length(old, new)
    after = common_length(old[before:][::-1], new[before:][::-1])
    return place.start + before, place.end - after, new[before : len(new) - after]


def _report(view: str, placements: list[Placement]) -> list[Applied]:
    applied, shift = [], 0
    for place in placements:
        first = line_number(view, place.start) + shift
        applied.append(Applied(place.block.number, place.how, first, first + len(place.block.replace) - 1))
        shift += place.replacement.count("\n") - view.count("\n", place.start, place.end)
    return sorted(applied, key=lambda one: one.number)
