"""A transcript: the rows so far, and the running turn. Pure."""

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TypeGuard

from msgspec.structs import replace

from halocline.protocol.kinds import Mode, Todo
from halocline.protocol.messages import Usage
from halocline.protocol.state.evidence.facts import EvidenceState
from halocline.protocol.values import Value
from halocline.surfaces.rows import kinds as r


class Totals(Value, frozen=True):
    """Usage of the running turn; `planned`: the to-do list changed in it.

    `error` is the text of its last error.
    """

    at: float = 0.0
    steps: int = 0
    usage: Usage = Usage()
    cost: float | None = 0.0
    planned: bool = False
    error: str = ""


class Transcript(Value, frozen=True):
    """The rows so far, the mode, the to-do list and the evidence. `draft` is the streaming reply.

    `rewinds` are the events that rewound the conversation, each with the event that it went to.
    """

    rows: tuple[r.Row, ...] = ()
    mode: Mode = Mode.ACT
    todos: tuple[Todo, ...] = ()
    draft: tuple[r.ThoughtRow | r.ReplyRow, ...] = ()
    turn: Totals = Totals()
    rewinds: tuple[tuple[int, int], ...] = ()
    evidence: EvidenceState = EvidenceState()

    def visible(self) -> tuple[r.Row, ...]:
        return self.rows + self.draft

    def call(self, call: str) -> r.CallRow | None:
        """The latest row of a tool call."""
        return next((row for row in reversed(self.rows) if isinstance(row, r.CallRow) and row.call == call), None)


def add_rows(transcript: Transcript, *rows: r.Row) -> Transcript:
    return replace(transcript, rows=transcript.rows + rows)


def change_call(transcript: Transcript, call: str, change: Callable[[r.CallRow], r.CallRow]) -> Transcript:
    rows = transcript.rows
    for index in range(len(rows) - 1, -1, -1):
        row = rows[index]
        if isinstance(row, r.CallRow) and row.call == call:
            return replace(transcript, rows=(*rows[:index], change(row), *rows[index + 1 :]))
    return transcript


FORGETS_FROM = 256
"""Rows from which settled ones are forgotten."""
KEPT_ROWS = 64
"""Rows at the end of a transcript that may change although they are settled: an event may add to a row before it."""


def count_settled(rows: Sequence[r.Row]) -> int:
    """Return how many rows at the beginning no event will change any more."""
    return sum(1 for _ in takewhile(is_settled, rows[:-KEPT_ROWS]))


def forget_settled(transcript: Transcript, shown: int) -> tuple[Transcript, int]:
    """Forget rows that no event will change, of the first ones that were `shown`, now and then: they hold long texts.

    Return the transcript and how many of its rows were shown.
    """
    rows = transcript.rows
    gone = min(shown, count_settled(rows)) if len(rows) > FORGETS_FROM else 0
    return (replace(transcript, rows=rows[gone:]), shown - gone) if gone else (transcript, shown)


def is_settled(row: r.Row) -> bool:
    """True if what a row reports has come to its end."""
    match row:
        case r.CallRow():
            return row.status is not None
        case r.QuestionRow():
            return bool(row.by)
        case r.HookRow():
            return row.status is not None
        case r.ThoughtRow() | r.ReplyRow():
            return not row.draft
        case _:
            return True


def drop_transient(transcript: Transcript) -> Transcript:
    """Drop what is not in the log and is about to be sent again: drafts, a retry, and the output of running calls."""
    rows = transcript.rows
    if rows and isinstance(rows[-1], r.RetryRow):
        rows = rows[:-1]
    ends = [index for index, row in enumerate(rows) if isinstance(row, r.TurnEndRow)]
    begin = ends[-1] + 1 if ends else 0  # a user's own commands outlive turns
    rows = tuple(replace(row, output="") if _shows_live(row, index >= begin) else row for index, row in enumerate(rows))
    return replace(transcript, rows=rows, draft=())


def _shows_live(row: r.Row, is_current: bool) -> TypeGuard[r.CallRow | r.HookRow]:
    """True if the row shows output that is not in the log."""
    if isinstance(row, r.HookRow):
        return row.status is None
    return isinstance(row, r.CallRow) and row.status is None and bool(row.output) and (is_current or row.own)


def add_usage(transcript: Transcript, usage: Usage, cost: float | None) -> Transcript:
    """Add to the usage of the running turn; an unknown price makes the sum unknown."""
    turn = transcript.turn
    total = None if cost is None or turn.cost is None else turn.cost + cost
    return replace(transcript, turn=replace(turn, usage=turn.usage + usage, cost=total))


def split_latest(rows: Sequence[r.Row], most: int) -> tuple[Sequence[r.Row], Sequence[r.Row]]:
    """Split off the latest turns, at most so many rows of them, but at least the last one."""
    begins = [at for at, row in enumerate(rows) if isinstance(row, r.PromptRow) and not row.steering] or [0]
    fits = [at for at in begins if len(rows) - at <= most]
    at = 0 if len(rows) <= most else min(fits, default=begins[-1])
    return rows[:at], rows[at:]


Rewinds = Sequence[tuple[int, int]]
"""The events of rewinds, each with the event that it went to."""


def list_gaps(rewinds: Rewinds) -> Iterator[tuple[int, int]]:
    """Yield the rewinds in force, the newest first: those that a later one skipped do not count."""
    begin: float = float("inf")
    for at, to in reversed(rewinds):
        if at <= begin:
            yield at, to
            begin = to
