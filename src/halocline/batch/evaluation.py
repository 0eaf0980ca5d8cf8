"""Evaluation over a batch: scores of models that ran each task several times, and what differs from earlier. Pure.

What a task does differs from run to run, so every figure has an interval, found by drawing the tasks again and again
(a bootstrap over tasks, not over runs, which are alike): with 95 % the true figure is in it.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import comb
from random import Random

from msgspec.structs import replace

from halocline.batch.intervals import find_rate_interval
from halocline.batch.items import GROUP_SHOWN, Item
from halocline.batch.queue import Outcome, Standing
from halocline.context.system_prompt.model_families import family_of
from halocline.protocol.values import Value

DRAWS = 2_000
_SEED = 1
Runs = Mapping[str, Sequence[Outcome]]
"""The outcomes of one model's runs, by task."""
Interval = tuple[float, float]


class Score(Value, frozen=True):
    """The figures of one model.

    Attributes:
        family: of the prompt that it got; empty: the plain one.
        edits: the tool that made most of its edits.
        pass_at: by k, the chance that one of k runs of a task passes; `intervals` are theirs.
        cost: US dollars of a run; None if a price is unknown.
        cache_share: input tokens that came from a cache, among all.
        requests, failed_edits, invalid_calls, repeated_reads: of a run.
    """

    model: str
    family: str = ""
    edits: str = ""
    tasks: int = 0
    runs: int = 0
    pass_at: Mapping[int, float] = {}
    intervals: Mapping[int, Interval] = {}
    cost: float | None = None
    seconds: float = 0.0
    requests: float = 0.0
    failed_edits: float = 0.0
    invalid_calls: float = 0.0
    repeated_reads: float = 0.0
    cache_share: float = 0.0


class Difference(Value, frozen=True):
    """A difference from an earlier run of the same tasks by one model: the change of pass@1 and its interval.

    `worse` and `better` are the tasks whose share of passed runs changed, by name. It `is_regression` where even the
    upper end of the interval is below zero.
    """

    model: str
    change: float
    interval: Interval
    worse: tuple[str, ...] = ()
    better: tuple[str, ...] = ()

    @property
    def is_regression(self) -> bool:
        return self.interval[1] < 0


def repeat_items(items: Iterable[Item], models: Sequence[str], times: int) -> list[Item]:
    """Return each item for each model so many times; those of one item are a group by its id."""
    return [
        replace(item, id=f"{item.id[:GROUP_SHOWN]}.{_shorten(model)}.{number}", model=model, group=item.id)
        for number in range(1, times + 1)
        for item in items
        for model in models
    ]


def score_models(items: Iterable[Standing]) -> list[Score]:
    """Return the scores of the models of a batch, the best first; runs that have not ended do not count."""
    scores = [_score(model, runs) for model, runs in _group_runs(items).items()]
    return sorted(scores, key=lambda score: -score.pass_at.get(1, 0.0))


def compare_runs(now: Iterable[Standing], earlier: Iterable[Standing]) -> list[Difference]:
    """Compare the models that both have, on the tasks that both have."""
    before = _group_runs(earlier)
    return [
        _compare(model, runs, before[model])
        for model, runs in _group_runs(now).items()
        if model in before and runs.keys() & before[model].keys()
    ]


def pass_at(passed: int, runs: int, k: int) -> float:
    """Return the chance that one of `k` runs passes, by so many that did: without bias (Chen et al. 2021)."""
    return 1.0 - comb(runs - passed, k) / comb(runs, k)


def _shorten(model: str) -> str:
    """Return a model's name as a part of an id."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", model.rpartition("/")[2] or model).strip("-")[:30] or "model"


def _group_runs(items: Iterable[Standing]) -> dict[str, dict[str, list[Outcome]]]:
    found: dict[str, dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for one in items:
        if one.outcome:
            found[one.item.model or one.outcome.model][one.item.group or one.item.id].append(one.outcome)
    return found


def _score(model: str, runs: Runs) -> Score:
    done = [outcome for outcomes in runs.values() for outcome in outcomes]
    fewest = min(map(len, runs.values()))
    shares = {k: [pass_at(_count(one), len(one), k) for one in runs.values()] for k in sorted({1, fewest})}
    read = sum(one.tokens.input + one.tokens.cache_read + one.tokens.cache_write for one in done)
    costs = [one.cost for one in done]
    tools = [one.edit_tool for one in done if one.edit_tool]

    def average(figure: Callable[[Outcome], float]) -> float:
        return round(sum(map(figure, done)) / len(done), 4)

    return Score(
        model,
        family_of(model),
        max(set(tools), key=tools.count, default=""),
        tasks=len(runs),
        runs=len(done),
        pass_at={k: round(sum(found) / len(found), 4) for k, found in shares.items()},
        intervals={k: _find_share_interval(found) for k, found in shares.items()},
        cost=None if None in costs else round(sum(cost for cost in costs if cost) / len(done), 6),
        seconds=average(lambda one: one.seconds),
        requests=average(lambda one: one.requests),
        failed_edits=average(lambda one: one.failed_edits),
        invalid_calls=average(lambda one: one.invalid_calls),
        repeated_reads=average(lambda one: one.repeated_reads),
        cache_share=round(sum(one.tokens.cache_read for one in done) / read, 4) if read else 0.0,
    )


def _find_share_interval(shares: Sequence[float]) -> Interval:
    """Return the interval of a pass rate; draws of tasks that are all alike show no doubt, so it is by their count."""
    same = {*shares} in ({0.0}, {1.0})
    return find_rate_interval(int(sum(shares)), len(shares)) if same else find_interval(shares)


def _compare(model: str, now: Runs, before: Runs) -> Difference:
    shares = {
        task: _count(now[task]) / len(now[task]) - _count(before[task]) / len(before[task])
        for task in sorted(now.keys() & before.keys())
    }
    change = sum(shares.values()) / len(shares)
    worse, better = (tuple(task for task, one in shares.items() if one * sign > 0) for sign in (-1, 1))
    return Difference(model, round(change, 4), find_interval([*shares.values()]), worse, better)


def _count(outcomes: Sequence[Outcome]) -> int:
    return sum(one.passed for one in outcomes)


def find_interval(values: Sequence[float]) -> Interval:
    """Return the 95 % interval of the mean of values of tasks, by a bootstrap that always draws the same."""
    draw = Random(_SEED)
    means = sorted(sum(draw.choices(values, k=len(values))) / len(values) for _ in range(DRAWS))
    return round(means[int(DRAWS * 0.025)], 4), round(means[int(DRAWS * 0.975) - 1], 4)
