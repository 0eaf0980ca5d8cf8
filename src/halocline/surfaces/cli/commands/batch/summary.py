"""The report of a batch in lines: for people, and short."""

from collections.abc import Iterator

from halocline.batch.report import Report
from halocline.surfaces.figures import format_count, format_duration, format_money, format_plural
from halocline.surfaces.sanitize import clean

HINTS = {
    "approval": "(calls needed an approval that no one gave: --approval-mode, -y or --ask, then --again failed)",
}


def list_summary(report: Report) -> Iterator[str]:
    """Yield the lines of the report."""
    low, high = report.interval
    yield clean(f"{report.name}: {report.passed} of {report.items} passed{_describe_open(report)}")
    if report.ended:
        yield f"  pass rate  {report.rate:.0%} (95% interval: {low:.0%} to {high:.0%})"
        tokens = f"{format_count(report.tokens.total)} tokens, {report.cache_share:.0%} of the input cached"
        yield f"  cost       {format_money(report.cost)}, {tokens}"
        median = format_duration(report.median_seconds)
        yield f"  time       {format_duration(report.seconds)} in all, {median} the median"
        calls = f"{format_plural(report.requests, 'request')}, {format_plural(report.calls, 'call')}"
        yield f"  steps      {calls}, {report.failed_calls} failed ({format_plural(report.failed_edits, 'edit')})"
    for cause, count in report.failures.items():
        hint = f"  {HINTS[cause]}" if cause in HINTS else ""
        yield clean(f"  {count:>4} × {cause}{hint}")


def describe_batch(report: Report) -> str:
    """Return the line of a batch in the list of batches."""
    return clean(f"{report.name}  {report.passed} of {report.items} passed{_describe_open(report)}")


def _describe_open(report: Report) -> str:
    return f", {report.items - report.ended} not ended" if report.ended < report.items else ""
