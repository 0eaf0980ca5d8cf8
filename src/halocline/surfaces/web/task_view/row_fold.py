"""Folds events into the rows that pages show, each with the event that it came with.

Settled rows are forgotten once they are encoded, so a long task costs neither memory nor time with every event.
"""

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.terminal_text import plain_output
from halocline.surfaces.rows.fold import fold_event
from halocline.surfaces.rows.kinds import CallRow
from halocline.surfaces.rows.transcript import KEPT_ROWS, Transcript, change_call, count_settled, drop_transient
from halocline.surfaces.web.row_trimming import PageRow, PreviewRow, waits_for_approval


class RowFold:
    """The rows that may change, from row number `begin` on, and the event of each."""

    def __init__(self) -> None:
        self.begin = 0
        self.seqs: list[int] = []
        self.pieces: dict[str, str] = {}
        """Output of running calls since it was last cleared."""
        self._transcript = Transcript()
        self._previews: dict[str, PreviewRow] = {}

    @property
    def rows(self) -> tuple[PageRow, ...]:
        """All rows from `begin` on, with those being written at the end."""
        return (*self._transcript.visible(), *self._previews.values())

    def take(self, event: ev.Event) -> None:
        """Fold an event."""
        match event:
            case ev.EditPreviewed():
                self._previews[event.call] = PreviewRow.of(event)
            case ev.AssistantMessageCompleted() | ev.StepStarted() | ev.StepRetried() | ev.TurnEnded():
                self._previews.clear()
            case ev.ToolCallProgressed():
                event = replace(event, text=event.colored or event.text)  # pages show the colors
                self.pieces[event.call] = self.pieces.get(event.call, "") + event.text
            case ev.TurnResumed():
                return self._resume(event)
        transcript = fold_event(self._transcript, event)
        if isinstance(event, ev.ToolCallEnded | ev.OwnCommandEnded):
            call = event.call if isinstance(event, ev.ToolCallEnded) else event.run
            transcript = _keep_colors(self._transcript, transcript, call)
        return self._change(transcript, event.seq if isinstance(event, ev.Durable) else 0)

    def drop_transient(self) -> None:
        """Forget what is not in the log, as it comes again."""
        self._previews.clear()
        self._change(drop_transient(self._transcript), 0)

    def find_waiting(self) -> int | None:
        """Return the number of the first row that waits for an approval."""
        rows = enumerate(self._transcript.rows, self.begin)
        return next((number for number, row in rows if isinstance(row, CallRow) and waits_for_approval(row)), None)

    def settle(self) -> None:
        """Forget the rows at the beginning that will not change any more, once they are many."""
        rows = self._transcript.rows
        if len(rows) <= 4 * KEPT_ROWS:
            return
        settled = count_settled(rows)
        self.begin += settled
        self._transcript = replace(self._transcript, rows=rows[settled:])
        del self.seqs[:settled]

    def _change(self, transcript: Transcript, seq: int) -> None:
        old, new = self._transcript.rows, transcript.rows
        self._transcript = transcript
        if old is new or len(old) == len(new):
            return
        came = seq or (self.seqs[-1] if self.seqs else 0)  # what is not in the log goes with the row before it
        self.seqs += [came] * (len(new) - len(old))
        del self.seqs[len(new) :]

    def _resume(self, event: ev.TurnResumed) -> None:
        """Rows go and come in the middle."""
        known = {id(row): seq for row, seq in zip(self._transcript.rows, self.seqs, strict=True)}
        self._transcript = fold_event(self._transcript, event)
        self.seqs = [known.get(id(row), event.seq) for row in self._transcript.rows]


def _keep_colors(before: Transcript, after: Transcript, call: str) -> Transcript:
    """Put the colors that an output had while it came into its final text, if that has all of it."""
    colored = next((row.output for row in before.rows if isinstance(row, CallRow) and row.call == call), "").strip()
    if "\x1b" not in colored or not (plain := plain_output(colored).strip()):
        return after
    return change_call(after, call, lambda row: replace(row, output=row.output.replace(plain, colored, 1)))
