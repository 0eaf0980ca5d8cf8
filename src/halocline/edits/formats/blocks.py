"""Parse SEARCH/REPLACE blocks as models write them. Lenient where the meaning is clear, an error elsewhere.

    ------- SEARCH
    lines to find
    =======
    lines to put there
    +++++++ REPLACE

`:start_line:12` below the first marker, perhaps with `:end_line:` and `-------` below it, names the line of the place.
`<<<<<<< SEARCH`, `>>>>>>> REPLACE` and a first line `SEARCH` mean the same; markers have three or more symbols and may
end in `>`. Content that looks like a marker stays content if it has a different number of symbols than the block's
first line. A block without its REPLACE marker may have been cut off, so its replacement may be incomplete, and nothing
is done.
"""

from bisect import bisect_right
from enum import Enum
from operator import attrgetter
from pathlib import PurePath

from msgspec.structs import replace

from halocline.edits.edit import Edit
from halocline.edits.text import EditError, to_lf
from halocline.protocol.file_names import MARKUP
from halocline.protocol.patterns import compile_later
from halocline.protocol.values import Value

_MARKER = compile_later(r"(?:([-<]{3,}) SEARCH>?|(={3,})>?|([+>]{3,}) REPLACE>?)[ \t]*")
_LINE = compile_later(r":start_line: ?(\d{1,9})[ \t]*(?:\n:end_line: ?\d+[ \t]*)?(?:\n-{3,})?(?:\n|$)")
_BARE = compile_later(r"\A\s*SEARCH[ \t]*\n")
_FENCE = compile_later(r"\s*```[\w.+#-]*\s*")
_NO_DIVIDER = "Block {} has no line `=======` between its SEARCH and REPLACE parts."
_MISCOUNT = 2
"""The number of symbols by which a REPLACE marker may differ from the block's first line.

With a larger difference it is content: taken for the end, it would make half a block look complete.
"""
_ADVICE = (
    "Send the blocks again in the documented format. If the content itself has a line like a marker, write all three "
    "markers of that block with a different number of symbols, such as 9."
)


class MalformedBlocks(EditError):
    """The markers do not form complete blocks."""

    code = "malformed_blocks"

    def __init__(self, text: str) -> None:
        super().__init__(text, _ADVICE)


class Kind(Enum):
    """The effect of a marker on its block."""

    START = 1
    DIVIDER = 2
    END = 3


class Marker(Value, frozen=True):
    """A marker line. `line` counts from 0; `size` is the number of symbols."""

    kind: Kind
    line: int
    size: int


def parse_blocks(diff: str, near: int = 0) -> list[Edit]:
    """Return the blocks of a diff, in order; the only one is meant near a line, unless it names one itself.

    Raises:
        MalformedBlocks: there is no block, or a marker is missing, doubled or in the wrong place.
    """
    lines = _BARE.sub("------- SEARCH\n", to_lf(diff)).split("\n")
    markers = [marker for i, line in enumerate(lines) if (marker := marker_in(line, i))]
    blocks: list[Edit] = []
    at = 0
    while (start := _next_start(lines, at)) is not None:
        block, at = _parse_block(lines, markers, start, len(blocks) + 1)
        blocks.append(block)
    if not blocks:
        raise MalformedBlocks("The diff has no block. A block starts with the line `------- SEARCH`.")
    return blocks if len(blocks) > 1 or blocks[0].near else [replace(blocks[0], near=near)]


def marker_in(line: str, i: int) -> Marker | None:
    """Return a line as a marker; None if it is not one."""
    found = _MARKER.fullmatch(line)
    return Marker(Kind(found.lastindex), i, len(found[found.lastindex])) if found and found.lastindex else None


def _next_start(lines: list[str], at: int) -> Marker | None:
    """Return the marker that opens the next block; only blank lines and code fences may come before it."""
    for i in range(at, len(lines)):
        marker = marker_in(lines[i], i)
        if marker and marker.kind is Kind.START:
            return marker
        if lines[i].strip() and not lines[i].startswith("```"):
            raise MalformedBlocks(f"Line {i + 1} of the diff is outside any block: {lines[i][:80]!r}.")
    return None


def _parse_block(lines: list[str], markers: list[Marker], start: Marker, number: int) -> tuple[Edit, int]:
    """Return the block that `start` opens, and the line after it."""
    inside = _until_next_start(markers, start)
    end = _find_end(inside, start, number)
    divider = _find_divider([m for m in inside if m.kind is Kind.DIVIDER and m.line < end], start, number)
    search, near = _take_line(lines[start.line + 1 : divider])
    return Edit(number, tuple(search), tuple(lines[divider + 1 : end]), near=near), end + 1


def _take_line(search: list[str]) -> tuple[list[str], int]:
    """Return what is searched for without the line that it names above, and that line; 0 if it names none."""
    found = _LINE.match("\n".join(search[:4]))
    return (search[found[0].count("\n") or 1 :], int(found[1])) if found else (search, 0)


def _until_next_start(markers: list[Marker], start: Marker) -> list[Marker]:
    inside = []
    first = bisect_right(markers, start.line, key=attrgetter("line"))
    for i in range(first, len(markers)):
        inside.append(markers[i])
        if markers[i].kind is Kind.START and markers[i].size == start.size:
            break
    return inside


def _find_end(inside: list[Marker], start: Marker, number: int) -> int:
    """Return the line of the REPLACE marker."""
    ends = [m for m in inside if m.kind is Kind.END and abs(m.size - start.size) <= _MISCOUNT]
    if ends:
        return next((m.line for m in ends if m.size == start.size), ends[0].line)
    if inside and inside[-1].kind is Kind.START and inside[-1].size == start.size:
        raise MalformedBlocks(f"Block {number} has no REPLACE marker before the next SEARCH marker.")
    if not any(m.kind is Kind.DIVIDER for m in inside):
        raise MalformedBlocks(_NO_DIVIDER.format(number))
    raise MalformedBlocks(
        f"Block {number} is incomplete: it does not end with the line `{'+' * start.size} REPLACE`. "
        "It may have been cut off; send all of it, in smaller blocks if it is long."
    )


def _find_divider(dividers: list[Marker], start: Marker, number: int) -> int:
    same = [m for m in dividers if m.size == start.size] or dividers
    match same:
        case [one]:
            return one.line
        case []:
            raise MalformedBlocks(_NO_DIVIDER.format(number))
        case _:
            where = ", ".join(str(m.line + 1) for m in same)
            raise MalformedBlocks(f"Block {number} has several dividers (lines {where} of the diff).")


def without_stray_fences(edits: list[Edit], view: str, path: str) -> list[Edit]:
    """Return the edits of a file, `view` before them, without code fences that a model wrote around their parts.

    A fence is content in markup, and in a file that has one. Elsewhere it is dropped where it cannot be meant: at the
    ends of SEARCH, then also at those of REPLACE, and where REPLACE has a fence without its other half.
    """
    if "```" in view or PurePath(path).suffix.lower() in MARKUP:
        return edits
    return [_clean_edit(edit) for edit in edits]


def _clean_edit(edit: Edit) -> Edit:
    search, new = edit.search, edit.replace
    bare = _strip_ends(search)
    is_wrapped = bare != search
    odd = sum(map(_is_fence, new)) % 2 == 1
    return replace(edit, search=bare, replace=_strip_ends(new) if is_wrapped or odd else new)


def _strip_ends(lines: tuple[str, ...]) -> tuple[str, ...]:
    first = 1 if lines and _is_fence(lines[0]) else 0
    last = len(lines) - 1 if len(lines) > first and _is_fence(lines[-1]) else len(lines)
    return lines[first:last]


def _is_fence(line: str) -> bool:
    return _FENCE.fullmatch(line) is not None
