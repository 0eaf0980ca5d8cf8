"""Cards of tool calls and sub-agents."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from halocline.protocol.events.subagents import LaneEnd
from halocline.protocol.kinds import CallStatus, Diff, ToolKind
from halocline.protocol.left_out import has_gap
from halocline.protocol.values import Value
from halocline.surfaces.figures import describe_lane, format_plural
from halocline.surfaces.grants import CHANGES
from halocline.surfaces.rows import kinds as r
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal import drawing
from halocline.surfaces.terminal.drawing.diff_view import diff_view, draw_stat
from halocline.surfaces.terminal.drawing.theme import ShortOr, Wide, draw_end, line, marked, wrapped

OUTPUT_LINES = 12
DIFF_LINES = 40
WHOLE = 1_000_000
"""Effectively unlimited lines."""
LOOKS = frozenset({ToolKind.READ, ToolKind.SEARCH})
MARKS = {ToolKind.EXECUTE: "$", ToolKind.FETCH: "↓"} | dict.fromkeys(CHANGES, "±") | dict.fromkeys(LOOKS, "▸")


class Foreign(Value, frozen=True):
    """Display of MCP servers' results: as Markdown or plain text, in full or only their beginning."""

    markdown: bool = True
    collapse: bool = True


def looks_card(rows: Sequence[r.CallRow | r.ThoughtRow]) -> RenderableType:
    """Reads, lists and searches with only thoughts between them as one line: named if they fit, else counted."""
    calls = [row for row in rows if isinstance(row, r.CallRow)]
    thoughts = len(rows) - len(calls)
    more = f" · {format_plural(thoughts, 'thought')}" if thoughts else ""
    named, counted = (f"{text}{more}" for text in (summarize_looks(calls), count_looks(calls)))
    return marked(ShortOr(wrapped(named, "quiet"), wrapped(counted, "quiet")), "▸", "quiet")


def count_looks(rows: Sequence[r.CallRow]) -> str:
    """`Read 5 files, listed 1 folder, searched 2 times`."""
    counts = Counter[tuple[str, str]]()
    for row in rows:
        verb = _LOOKS.get(row.title.partition(" ")[0], ("looked", "time"))
        counts[verb] += max(1, len(row.locations)) if verb[1] == "file" else 1
    text = ", ".join(f"{verb} {format_plural(count, noun)}" for (verb, noun), count in counts.items())
    return text[:1].upper() + text[1:]


_LOOKS = {"Read": ("read", "file"), "List": ("listed", "folder")} | dict.fromkeys(
    ("Search", "Find"), ("searched", "time")
)


def summarize_looks(rows: Sequence[r.CallRow], limit: int = 8) -> str:
    """`Read a.py, b.py · Search "x"`: consecutive titles with the same verb share it."""
    parts: list[tuple[str, list[str]]] = []
    for row in rows[:limit]:
        verb, _, rest = clean(row.title).replace("\n", " ").partition(" ")
        if parts and parts[-1][0] == verb:
            parts[-1][1].append(rest)
        else:
            parts.append((verb, [rest]))
    groups = [f"{verb} {', '.join(rests)}" for verb, rests in parts]
    if more := rows[limit:]:
        groups.append(f"{len(more)} more")
    return " · ".join(groups)


def call_card(row: r.CallRow, *, headed: bool = True, shown: bool = False, details: bool = False) -> RenderableType:
    """A finished call: its title, result and end. `headed` is false below its approval card; `shown` that it has one.

    An edit that a person changed has its title there, too, as its diff is another than that of the card.
    """
    is_changed = bool(row.diffs and row.approval and row.approval.edited)
    head = [call_head(row)] if headed or is_changed else []
    if row.status is not CallStatus.COMPLETED and not row.own:
        return Group(*head, _unhappy_end(row, details=details))
    if row.kind is ToolKind.EXECUTE:
        return Group(*head, *_command_output(row, details=details))
    if row.diffs:
        seen = row.approval is not None and row.approval.diffs == row.diffs and shown
        explained = any(diff.remarks for diff in row.diffs)
        limit = 0 if seen else (WHOLE if details or explained else DIFF_LINES)
        body = [draw_end("applied", "good")] if seen else indent_cards(diff_view(row.diffs, limit))
        return Wide(Group(*head, *body))
    body = [marked(line(text, "quiet"), "│", "quiet") for text in _split_lines(row.output)] if details else []
    return Group(*head, *body, *([] if headed else [draw_end("done", "good")]))


def foreign_card(row: r.CallRow, *, headed: bool, whole: bool, markdown: bool) -> RenderableType:
    """Result of an MCP tool; only its beginning unless `whole`."""
    lines = _split_lines(row.output)
    shown = lines if whole or len(lines) <= OUTPUT_LINES + 1 else lines[:OUTPUT_LINES]
    body: RenderableType = Group(*(wrapped(text, "quiet") for text in shown))
    if markdown and shown:
        body = drawing.markdown.Prose("\n".join(shown))
    more = (
        [draw_end(f"… {format_plural(len(lines) - len(shown), 'more line')}", "quiet")]
        if len(lines) > len(shown)
        else []
    )
    head = [call_head(row)] if headed else []
    return Group(*head, *([marked(body, "│", "quiet", "│")] if shown else []), *more)


def lane_card(lane: r.Lane, *, details: bool) -> RenderableType:
    """A finished sub-agent in one line, and what it changed; with `details`, also its prompt and report."""
    mark, style = _LANE_ENDS[lane.end or LaneEnd.STOPPED]
    child = f" · task {lane.child}" if lane.model else ""
    head = Text.assemble(
        (clean(lane.name), "title"), "  ", (clean(describe_lane(lane)) + child, "quiet"), overflow="fold"
    )
    refused = [(wrapped if details else line)(f"refused: {clean(one)}", "quiet") for one in lane.refused]
    remarks = [wrapped(text, "quiet") for part in lane.remarks for text in _split_lines(part)]
    outcome = [wrapped(text, "quiet") for text in _split_lines(lane.outcome)]
    texts = [lane.prompt, lane.report] if details else []
    more = [wrapped(text, "quiet") for part in texts for text in _split_lines(part)]
    return marked(Group(head, *outcome, *remarks, *refused, *more), mark, style)


_LANE_ENDS = {
    LaneEnd.DONE: ("✓", "good"),
    LaneEnd.LIMIT: ("■", "warn"),
    LaneEnd.STOPPED: ("■", "warn"),
    LaneEnd.FAILED: ("✗", "bad"),
}


def call_head(row: r.CallRow) -> RenderableType:
    """Title of a call in one line; a long command in a few."""
    title = clean(row.title)
    if row.kind in LOOKS:
        return marked(line(title, "quiet"), MARKS[row.kind], "quiet")
    if row.own:
        return marked(Text.assemble(wrapped(title, "title"), ("  you", "quiet"), overflow="fold"), "$", "accent")
    head = draw_headline(title, row.diffs)
    if row.approval and row.approval.edited:
        refused = " and ".join(map(clean, row.approval.refused))
        head = Text.assemble(head, (f"  without {refused}" if refused else "  edited by you", "quiet"), overflow="fold")
    return marked(head, MARKS.get(row.kind, "•"), "accent")


def draw_headline(title: str, diffs: tuple[Diff, ...]) -> Text:
    head = wrapped(title, "title")
    return Text.assemble(head, "  ", draw_stat(diffs), overflow="fold") if diffs else head


def _split_lines(text: str) -> list[str]:
    return clean(text).rstrip().split("\n") if text.strip() else []


def indent_cards(body: Sequence[RenderableType]) -> list[RenderableType]:
    return [marked(part) for part in body]


def _command_output(row: r.CallRow, *, details: bool) -> list[RenderableType]:
    """The last lines of output, then the command's status line."""
    *lines, status = _split_lines(row.output) or [""]
    if lines == ["[no output]"]:
        lines = []
    shown = lines if details or len(lines) == OUTPUT_LINES + 1 else lines[-OUTPUT_LINES:]
    parts: list[RenderableType] = []
    if hidden := len(lines) - len(shown):
        parts.append(marked(line(_describe_hidden(lines[:hidden]), "quiet"), "│", "quiet"))
    parts += [_draw_output(text) for text in shown]
    outcome = status.strip("[]")
    return [*parts, draw_end(f"✗ {outcome}", "bad") if row.failure else draw_end(outcome, _outcome_style(status))]


def _describe_hidden(lines: Sequence[str]) -> str:
    """Count the lines. Where the middle of an output was not kept, there were more of them."""
    return f"… {'more than ' if has_gap(lines) else ''}{format_plural(len(lines), 'earlier line')}"


def _draw_output(text: str) -> RenderableType:
    """A line of output, cut to the width; a remark of the tool is whole, as it may name the file with the rest."""
    remark = text.startswith("[") and text.endswith("]")
    body = wrapped(text, "quiet") if remark else line(text, "quiet")
    return marked(body, "│", "quiet", "│")


def _outcome_style(status: str) -> str:
    """Green for exit code 0."""
    return "good" if status.startswith("[exit code 0") else "quiet"


def _unhappy_end(row: r.CallRow, *, details: bool) -> RenderableType:
    match row.status:
        case CallStatus.CANCELLED:
            return draw_end("interrupted", "warn")
        case CallStatus.SKIPPED:
            return draw_end(clean(row.for_person).strip() or "skipped", "quiet")
        case _:
            text = clean(row.output if details else row.for_person).strip()
            return draw_end(text or "failed", "bad" if row.status is CallStatus.FAILED else "warn")
