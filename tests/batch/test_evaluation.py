"""Evaluation: figures with their intervals, and a regression that is called one only where it is sure."""

from itertools import combinations

import pytest
from tests.tables import for_each

from halocline.batch.evaluation import compare_runs, find_interval, pass_at, repeat_items, score_models
from halocline.batch.items import Item, check_items
from halocline.batch.queue import Ending, Outcome, Standing
from halocline.protocol.messages import Usage

PASSED, FAILED = Outcome(Ending.PASSED, cost=0.1, seconds=2.0), Outcome(Ending.REJECTED, cost=0.3, seconds=4.0)


def run(task, outcomes, model="m"):
    return [
        Standing(Item(f"{task}.{at}", "p", model=model, group=task), "t", outcome=one)
        for at, one in enumerate(outcomes)
    ]


@for_each("passed, runs, k", [(p, n, k) for n in range(1, 7) for p in range(n + 1) for k in range(1, n + 1)])
def test_the_chance_that_one_of_k_passes_is_what_all_choices_of_k_runs_say(passed, runs, k):
    choices = [*combinations([True] * passed + [False] * (runs - passed), k)]
    assert pass_at(passed, runs, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_items_are_repeated_for_each_model_under_ids_of_their_own():
    found = repeat_items([Item("a" * 100, "p"), Item("b", "p")], ["x/one", "y/one two", "scripted//tmp/x.toml"], 3)
    assert len(check_items(found, "here")) == 18
    assert {item.group for item in found} == {"a" * 100, "b"}


def test_a_score_is_an_average_over_tasks_and_knows_how_sure_it_is():
    items = [*run("a", [PASSED, FAILED]), *run("b", [FAILED, FAILED]), *run("c", [PASSED, PASSED])]
    (score,) = score_models([*items, Standing(Item("open", "p", model="m"))])
    assert (score.tasks, score.runs, score.pass_at) == (3, 6, {1: 0.5, 2: 0.6667})
    assert score.intervals[1] == (0.0, 1.0)
    assert (score.cost, score.seconds) == (0.2, 3.0)


def test_the_best_model_comes_first_and_figures_are_of_one_run():
    reads = Outcome(Ending.PASSED, requests=4, failed_edits=1, invalid_calls=2, edit_tool="apply_patch")
    read = Outcome(Ending.PASSED, tokens=Usage(input=25, cache_read=75))
    scores = score_models([*run("a", [FAILED], "worse"), *run("a", [reads, read], "better")])
    assert [score.model for score in scores] == ["better", "worse"]
    better = scores[0]
    assert (better.requests, better.failed_edits, better.invalid_calls, better.cache_share) == (2.0, 0.5, 1.0, 0.75)
    assert better.edits == "apply_patch"


def test_a_regression_is_one_where_it_is_sure_and_names_its_tasks():
    before = [one for number in range(20) for one in run(f"t{number:02}", [PASSED, PASSED])]
    worse = [one for number in range(20) for one in run(f"t{number:02}", [FAILED if number < 8 else PASSED] * 2)]
    (found,) = compare_runs(worse, before)
    assert (found.change, found.is_regression, len(found.worse), found.better) == (-0.4, True, 8, ())
    (little,) = compare_runs([*run("t00", [FAILED, PASSED]), *before[2:]], before)
    assert (little.worse, little.is_regression) == (("t00",), False)
    (back,) = compare_runs(before, worse)
    assert (back.is_regression, len(back.better)) == (False, 8)
    assert compare_runs(run("a", [PASSED], "other"), before) == []


def test_a_model_that_passed_nothing_may_still_pass_some_by_its_interval():
    (score,) = score_models([*run("a", [FAILED]), *run("b", [FAILED])])
    assert (score.pass_at[1], score.intervals[1]) == (0.0, (0.0, 0.6576))


def test_intervals_are_the_same_each_time_and_hold_what_they_are_of():
    assert find_interval([0.0, 1.0] * 20) == find_interval([0.0, 1.0] * 20)
    low, high = find_interval([0.0, 1.0] * 20)
    assert low < 0.5 < high
