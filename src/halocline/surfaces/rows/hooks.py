"""Rows of hooks: one that takes long is shown while it runs, and how it ended. Pure."""

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.events.hooks import HookDecision, HookStatus
from halocline.surfaces.rows.calls import LIVE_OUTPUT
from halocline.surfaces.rows.kinds import HookRow, Row
from halocline.surfaces.rows.transcript import Transcript, add_rows

LONG_HOOK = 1.0
"""Seconds above which a hook gets a row."""


def show_hook(t: Transcript, e: ev.HookProgressed) -> Transcript:
    shown = _find_hook(t, e.run)
    if shown is None:
        return add_rows(t, HookRow(e.hook, e.moment, run=e.run, output=e.text))
    return _replace_row(t, shown, replace(shown, output=(shown.output + e.text)[-LIVE_OUTPUT:]))


def end_hook(t: Transcript, e: ev.HookRan) -> Transcript:
    quiet = e.status is HookStatus.COMPLETED and e.decision is not HookDecision.BLOCK
    if quiet and e.seconds <= LONG_HOOK and not e.run:
        return t
    row = HookRow(e.hook, e.moment, e.status, e.decision, e.said, e.seconds)
    shown = _find_hook(t, e.run)
    return _replace_row(t, shown, row) if shown else add_rows(t, row)


def _replace_row(transcript: Transcript, old: Row, new: Row) -> Transcript:
    return replace(transcript, rows=tuple(new if row is old else row for row in transcript.rows))


def _find_hook(transcript: Transcript, run: str) -> HookRow | None:
    """The row of a hook that runs."""
    rows = (row for row in reversed(transcript.rows) if isinstance(row, HookRow) and row.status is None)
    return next((row for row in rows if row.run == run), None)
