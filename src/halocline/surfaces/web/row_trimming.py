"""Encodes rows for pages, with long texts cut. Never cut is what a person still decides on, and what is growing.

A page fetches the whole row by `row`.
"""

from typing import Any

from halocline.protocol import json_input, json_output
from halocline.protocol.events import EditPreviewed
from halocline.protocol.values import Tagged
from halocline.surfaces.rows.kinds import CallRow, ReplyRow, Row, ThoughtRow

LARGEST = 64 * 1024
"""Bytes up to which a row is sent whole."""
HEAD, TAIL = 12_000, 4_000
"""Characters kept of a long text in a larger row."""

DECIDED_ON = ("title", "approval")
"""Fields that are whole while a person decides on a call."""


class PreviewRow(Tagged, frozen=True):
    """An edit that the model is still writing: its file, the line it begins at if known, and its newest lines."""

    call: str
    path: str = ""
    line: int | None = None
    added: int = 0
    removed: int = 0
    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, event: EditPreviewed) -> "PreviewRow":
        return cls(event.call, event.path, event.line, event.added, event.removed, event.lines)


PageRow = Row | PreviewRow


def encode_row(row: PageRow) -> tuple[bytes, tuple[str, ...]]:
    """Return a row as JSON, and the names of its fields that were cut."""
    encoded = json_output.encode(row)
    if len(encoded) <= LARGEST or (isinstance(row, ThoughtRow | ReplyRow) and row.draft):
        return encoded, ()
    plain: dict[str, Any] = json_input.decode(encoded)
    whole = DECIDED_ON if isinstance(row, CallRow) and waits_for_approval(row) else ()
    short = {name: value if name in whole else _cut_text(value) for name, value in plain.items()}
    cut = tuple(name for name, value in plain.items() if short[name] != value)
    return (json_output.encode(short), cut) if cut else (encoded, ())


def waits_for_approval(row: CallRow) -> bool:
    """True if a person still decides on a call."""
    return row.status is None and row.approval is not None and row.approval.decision is None


def _cut_text(value: Any) -> Any:
    match value:
        case str() if len(value) > HEAD + TAIL:
            gap = len(value) - HEAD - TAIL
            return f"{value[:HEAD]}\n[… {gap:,} characters are not shown …]\n{value[-TAIL:]}"
        case list():
            return [_cut_text(one) for one in value]
        case dict():
            return {name: _cut_text(one) for name, one in value.items()}
    return value
