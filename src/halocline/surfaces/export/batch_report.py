"""Writes the report of a batch as one HTML page: no scripts, no external resources, dark and light."""

from collections.abc import Iterator
from html import escape

from halocline.batch.queue import Outcome
from halocline.batch.report import Line, Report, describe_ending
from halocline.surfaces.export.html import build_page
from halocline.surfaces.figures import format_count, format_duration, format_money, format_plural
from halocline.surfaces.sanitize import clean

_HEADS = ("Item", "End", "Change", "Time", "Cost", "Requests", "Task")


def write_page(report: Report) -> str:
    """Return the page."""
    low, high = report.interval
    about = f"{report.passed} of {report.ended} passed: {report.rate:.0%} (95% interval: {low:.0%} to {high:.0%})"
    return build_page(f"Batch {report.name}", [about], "\n".join(_list_parts(report)))


def _list_parts(report: Report) -> Iterator[str]:
    figures = (
        *([f"{report.items - report.ended} not ended"] if report.ended < report.items else []),
        f"{format_money(report.cost)}, {format_count(report.tokens.total)} tokens",
        f"{report.cache_share:.0%} of the input from a cache",
        f"{report.requests} requests, {report.calls} calls, {report.failed_calls} failed",
        f"{format_duration(report.seconds)} in all, {format_duration(report.median_seconds)} the median",
    )
    yield f"<p>{' · '.join(map(escape, figures))}</p>"
    if report.failures:
        rows = "".join(f"<tr><td>{count}</td><td>{_show(cause)}</td></tr>" for cause, count in report.failures.items())
        yield f"<h2>Why items did not pass</h2><table>{rows}</table>"
    heads = "".join(f"<th>{head}</th>" for head in _HEADS)
    rows = "".join(map(_write_row, report.lines))
    yield f'<h2>Items</h2><table class="items"><tr>{heads}</tr>{rows}</table>'


def _write_row(line: Line) -> str:
    if line.outcome is None:
        return _write_cells((line.id, "", "", "", "", line.task), "not ended")
    done = line.outcome
    look = "good" if done.passed else "bad"
    change = f"{format_plural(done.files, 'file')}, +{done.added} -{done.removed}" if done.files else ""
    cells = (change, format_duration(done.seconds), format_money(done.cost), str(done.requests), line.task)
    end = f'<span class="{look}">{_show(describe_ending(done))}</span>'
    return f"{_write_cells((line.id, *cells), end)}{_write_detail(done)}"


def _write_cells(cells: tuple[str, ...], end: str) -> str:
    """Return the row of an item, whose cells have their heads for narrow screens; `end` is HTML."""
    shown = [_show(cells[0]), end, *map(_show, cells[1:])]
    named = zip(_HEADS, shown, strict=True)
    return f"<tr>{''.join(f'<td data-head={head}>{cell}</td>' for head, cell in named)}</tr>"


def _write_detail(outcome: Outcome) -> str:
    """Return what a reader may unfold: the answer, and what the acceptance command printed."""
    texts = (outcome.problem, outcome.text, outcome.accept_output)
    shown = "".join(f"<pre>{_show(text)}</pre>" for text in texts if text.strip())
    places = " · ".join(f"{what} <code>{_show(text)}</code>" for what, text in _list_places(outcome) if text)
    inside = f'<div class="inside"><p>{places}</p>{shown}</div>'
    return f'<tr><td colspan="{len(_HEADS)}"><details><summary>More</summary>{inside}</details></td></tr>'


def _list_places(outcome: Outcome) -> tuple[tuple[str, str], ...]:
    return ("Result", outcome.result), ("Pull request", outcome.pull_request), ("Folder", outcome.folder)


def _show(text: str) -> str:
    return escape(clean(text))
