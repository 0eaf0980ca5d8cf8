"""The summary with which an exported task begins: what was asked, decided, changed and proved, each with its place."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from halocline.protocol.kinds import CallStatus
from halocline.surfaces.export.undone import Undone
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.rows.words import describe_change, describe_decision

_CODE = re.compile(r"`([^`]+)`")
LONGEST = 120
"""Letters of a prompt or title that a line has."""


def summarize_rows(rows: Sequence[r.Row], undone: Undone) -> str:
    """Return the summary as HTML; empty where there is nothing to tell. It says what stands now."""
    calls = [row for row in rows if isinstance(row, r.CallRow)]
    ends = [row for row in rows if isinstance(row, r.TurnEndRow)]
    prompts = [_link(f"e{row.seq}", row.text) for row in rows if isinstance(row, r.PromptRow)]
    proved = ends[-1].evidence.lines if ends and not undone.since_end else ()
    parts = (
        ("Asked", prompts),
        ("Decided", [line for row in calls if (line := _describe_decided(row))]),
        ("Changed", _list_changed(calls, undone)),
        ("Undone", _list_undone(calls, undone)),
        ("Proved at the end", [*map(mark_code, proved)]),
    )
    lists = "".join(f"<h2>{name}</h2>{_list_items(items)}" for name, items in parts if items)
    return f'<nav class="summary" aria-label="Summary">{lists}</nav>' if lists else ""


def mark_code(text: str) -> str:
    """Return plain text as HTML, with what stands in backticks as code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def name_place(row: r.CallRow) -> str:
    """Return the id of a call's place on the page."""
    return f"call-{row.call}"


def _describe_decided(row: r.CallRow) -> str:
    """Describe what a person decided about a call; empty if none did."""
    approval = row.approval
    if approval is None or approval.decision is None or approval.by not in ("user", "message"):
        return ""
    said = filter(None, [describe_decision(approval), describe_change(approval), approval.note])
    return f"{_link(name_place(row), row.title)}: {escape(' · '.join(said))}"


def _list_changed(calls: Iterable[r.CallRow], undone: Undone) -> list[str]:
    """List the files that edits changed, with the lines of all that stand; each leads to the first."""
    found: dict[str, tuple[r.CallRow, int, int]] = {}
    for row in calls:
        for diff in row.diffs if row.status is CallStatus.COMPLETED else ():
            if (row.call, diff.path) in undone.edits:
                continue
            first, added, removed = found.get(diff.path, (row, 0, 0))
            found[diff.path] = (first, added + diff.added, removed + diff.removed)
    return [
        f"{_link(name_place(row), path)} +{added} −{removed}" for path, (row, added, removed) in sorted(found.items())
    ]


def _list_undone(calls: Iterable[r.CallRow], undone: Undone) -> list[str]:
    """List the edits that were undone; each leads to its call."""
    taken = ((row, path) for row in calls for call, path in sorted(undone.edits) if call == row.call)
    return [_link(name_place(row), path) for row, path in taken]


def _link(place: str, text: str) -> str:
    line = " ".join(text.split())
    shown = line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
    return f'<a href="#{escape(place)}">{escape(shown) or "…"}</a>'


def _list_items(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"
