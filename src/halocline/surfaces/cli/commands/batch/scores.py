"""The scores of an evaluation in lines: a table of models, and what differs from an earlier run."""

from collections.abc import Iterator, Sequence

from halocline.batch.evaluation import Difference, Score
from halocline.surfaces.figures import format_duration, format_money
from halocline.surfaces.sanitize import clean

_HEAD = (
    "model",
    "pass@1",
    "95% interval",
    "pass@k",
    "cost",
    "time",
    "steps",
    "edits failed",
    "invalid",
    "re-read",
    "cached",
    "edits by",
)


def list_scores(scores: Sequence[Score]) -> Iterator[str]:
    """Yield the table, the best model first; figures are those of one run."""
    rows = [_HEAD, *map(_list_cells, scores)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def list_differences(found: Sequence[Difference], earlier: str) -> Iterator[str]:
    """Yield what differs from the earlier batch."""
    if not found:
        yield clean(f"No model ran the same tasks in {earlier}.")
    for one in found:
        low, high = one.interval
        sure = f"95% interval: {low:+.0%} to {high:+.0%}"
        verdict = (
            "REGRESSION" if one.is_regression else "better" if low > 0 else "no difference that these runs can show"
        )
        yield clean(f"{one.model}: pass@1 {one.change:+.0%} since {earlier} ({sure}): {verdict}")
        for word, tasks in (("worse", one.worse), ("better", one.better)):
            if tasks:
                yield clean(f"  {word}: {', '.join(tasks)}")


def _list_cells(score: Score) -> tuple[str, ...]:
    low, high = score.intervals.get(1, (0.0, 1.0))
    most = max(score.pass_at, default=1)
    figures = (score.failed_edits, score.invalid_calls, score.repeated_reads)
    return (
        clean(score.model),
        f"{score.pass_at.get(1, 0.0):.0%}",
        f"{low:.0%}-{high:.0%}",
        f"{score.pass_at.get(most, 0.0):.0%} (k={most})",
        format_money(score.cost),
        format_duration(score.seconds),
        f"{score.requests:.1f}",
        *(f"{one:.1f}" for one in figures),
        f"{score.cache_share:.0%}",
        clean(score.edits or "-"),
    )
