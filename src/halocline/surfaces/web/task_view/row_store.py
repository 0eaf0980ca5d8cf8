"""The rows of a task as bytes, each with the revision in which it last changed: what pages get now and later."""

from array import array
from collections.abc import Iterable, Iterator, Sequence

from halocline.protocol import json_output
from halocline.surfaces.rows.calls import LIVE_OUTPUT
from halocline.surfaces.rows.kinds import CallRow, NoticeRow, ReplyRow, RestoredRow, ThoughtRow
from halocline.surfaces.rows.transcript import list_gaps
from halocline.surfaces.web.page_words import tell_row
from halocline.surfaces.web.row_trimming import PageRow, encode_row
from halocline.surfaces.web.wire import RowGrowth

LARGEST_FRAME = 2**20
"""Bytes of rows in one frame, unless one row has more."""


class RowStore:
    """All rows. Those before `_begin` are settled and only kept as bytes."""

    def __init__(self) -> None:
        self._encoded: list[bytes] = []
        self._revisions = array("q")
        self._seqs = array("q")
        self._restored: set[int] = set()
        self._begin = 0
        self._last: tuple[PageRow, ...] = ()

    def __len__(self) -> int:
        return len(self._encoded)

    def update(
        self, begin: int, rows: tuple[PageRow, ...], seqs: Sequence[int], revision: int, pieces: dict[str, str]
    ) -> tuple[list[int], list[RowGrowth]]:
        """Take the rows from `begin` on; return the numbers of those that changed, and what others have grown by."""
        changed, grown = list[int](), list[RowGrowth]()
        old, self._last = self._last[begin - self._begin :], rows
        self._begin = begin
        self._shorten(begin + len(rows))
        del self._seqs[begin:]
        self._seqs.extend([*seqs, *[0] * (len(rows) - len(seqs))])
        for number, row in enumerate(rows):
            was = old[number] if number < len(old) else None
            if was is row:
                continue
            if was is not None and (growth := _find_growth(begin + number, was, row, pieces)):
                grown.append(growth)
            else:
                changed.append(begin + number)
            self._put(begin + number, row, revision)
        return changed, grown

    def pick(self, numbers: Iterable[int]) -> bytes:
        """Return these rows as a JSON array."""
        return b"[%b]" % b",".join(b'{"at":%d,%b' % (number, self._encoded[number]) for number in numbers)

    def list_changed(self, after: int) -> list[int]:
        """Return the numbers of the rows that changed after a revision."""
        return [number for number, revision in enumerate(self._revisions) if revision > after]

    def find_page(self, until: int, most: int) -> int:
        """Return the first row of a page that ends before `until`: at most so many rows, and not much text."""
        size, first = 0, until
        while first > 0 and until - first < most:
            size += len(self._encoded[first - 1])
            if size > LARGEST_FRAME and first < until:
                break
            first -= 1
        return first

    def list_left(self, rewinds: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        """Return the ranges of rows that rewinds left behind, given as (event, event that it went back to)."""
        gaps = list(list_gaps(rewinds))
        left = (
            number
            for number, seq in enumerate(self._seqs)
            if any(to < seq < at for at, to in gaps) and number not in self._restored
        )
        return tuple(_join_ranges(left))

    def _put(self, number: int, row: PageRow, revision: int) -> None:
        encoded, cut = encode_row(tell_row(row))
        origin = b""
        if cut:
            seq = self._seqs[number]
            nth = next(n for n in range(number + 1) if number - n == 0 or self._seqs[number - n - 1] != seq)
            origin = b'"cut":%b,"seq":%d,"nth":%d,' % (json_output.encode(cut), seq, nth)
        upsert = b'%b"row":%b}' % (origin, encoded)
        if number == len(self._encoded):
            self._encoded.append(upsert)
            self._revisions.append(revision)
        else:
            self._encoded[number], self._revisions[number] = upsert, revision
        stays = isinstance(row, RestoredRow) or (isinstance(row, NoticeRow) and row.undone)
        (self._restored.add if stays else self._restored.discard)(number)

    def _shorten(self, length: int) -> None:
        del self._encoded[length:]
        del self._revisions[length:]


def _find_growth(number: int, was: PageRow, row: PageRow, pieces: dict[str, str]) -> RowGrowth | None:
    """Return what a row has grown by, if it is the same otherwise."""
    if isinstance(was, ReplyRow | ThoughtRow) and isinstance(row, ReplyRow | ThoughtRow):
        is_grown = type(was) is type(row) and was.draft and row.draft and row.text.startswith(was.text)
        return RowGrowth(number, "text", row.text[len(was.text) :]) if is_grown else None
    if isinstance(was, CallRow) and isinstance(row, CallRow) and row.status is None:
        piece = pieces.get(row.call, "")
        is_same = all(getattr(was, name) is getattr(row, name) for name in row.__struct_fields__ if name != "output")
        if piece and is_same and (was.output + piece)[-LIVE_OUTPUT:] == row.output:
            return RowGrowth(number, "output", piece[-LIVE_OUTPUT:], LIVE_OUTPUT)
    return None


def _join_ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    begin = end = -1
    for number in numbers:
        if number != end:
            if end >= 0:
                yield begin, end
            begin = number
        end = number + 1
    if end >= 0:
        yield begin, end
