"""The report of a batch: its figures, and each item. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import median

from halocline.batch.intervals import find_rate_interval
from halocline.batch.queue import Outcome, Standing
from halocline.protocol.messages import Usage
from halocline.protocol.values import Value


class Line(Value, frozen=True):
    """An item in the report; `outcome` is None while it has not ended.

    `node` is where on a cluster it ran, and `lost` are the tasks of attempts whose nodes were lost.
    """

    id: str
    attempt: int
    task: str
    outcome: Outcome | None
    node: str = ""
    lost: tuple[str, ...] = ()


class Report(Value, frozen=True):
    """The figures of a batch, and its items.

    Attributes:
        rate: passed items among those that ended; `interval` is where the true rate is with 95 % (Wilson).
        cost: US dollars; None if a price is unknown.
        cache_share: input tokens that came from a cache, among all.
        seconds: the sum of all items; `median_seconds` of one.
        failures: how often each cause was, the most frequent first.
    """

    name: str
    items: int = 0
    ended: int = 0
    passed: int = 0
    rate: float = 0.0
    interval: tuple[float, float] = (0.0, 1.0)
    cost: float | None = 0.0
    tokens: Usage = Usage()
    cache_share: float = 0.0
    requests: int = 0
    calls: int = 0
    failed_calls: int = 0
    failed_edits: int = 0
    repeated_reads: int = 0
    seconds: float = 0.0
    median_seconds: float = 0.0
    failures: Mapping[str, int] = {}
    lines: tuple[Line, ...] = ()


def make_report(name: str, items: Iterable[Standing]) -> Report:
    """Return the report of a batch, which may still run."""
    lines = tuple(Line(one.item.id, one.attempt, one.task, one.outcome, one.node, one.lost) for one in items)
    done = [line.outcome for line in lines if line.outcome]
    passed, costs = sum(one.passed for one in done), [one.cost for one in done]
    tokens = sum((one.tokens for one in done), start=Usage())
    read = tokens.input + tokens.cache_read + tokens.cache_write
    return Report(
        name,
        items=len(lines),
        ended=len(done),
        passed=passed,
        rate=round(passed / len(done), 4) if done else 0.0,
        interval=find_rate_interval(passed, len(done)),
        cost=None if None in costs else round(sum(cost for cost in costs if cost), 6),
        tokens=tokens,
        cache_share=round(tokens.cache_read / read, 4) if read else 0.0,
        requests=sum(one.requests for one in done),
        calls=sum(one.calls for one in done),
        failed_calls=sum(one.failed_calls for one in done),
        failed_edits=sum(one.failed_edits for one in done),
        repeated_reads=sum(one.repeated_reads for one in done),
        seconds=round(sum(one.seconds for one in done), 3),
        median_seconds=round(median(one.seconds for one in done), 3) if done else 0.0,
        failures=dict(Counter(describe_ending(one) for one in done if not one.passed).most_common()),
        lines=lines,
    )


def describe_ending(outcome: Outcome) -> str:
    """Return how an item ended in words: the class by which failures are counted."""
    return f"{outcome.ending.value}: {outcome.cause}" if outcome.cause else outcome.ending.value
