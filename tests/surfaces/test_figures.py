import pytest

from halocline.protocol.messages import StopReason, Usage
from halocline.surfaces.figures import (
    describe_ending,
    describe_retry,
    format_age,
    format_count,
    format_duration,
    format_money,
)
from halocline.surfaces.rows.kinds import RetryRow, TurnEndRow


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (0.44, "0.4 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 m 00 s"),
        (125, "2 m 05 s"),
        (3725, "1 h 02 m"),
    ],
)
def test_durations_read_well_at_every_scale(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (12_345, "12.3k"), (999_940, "999.9k"), (1_200_000, "1.2M")]
)
def test_large_counts_are_shortened(number: int, text: str) -> None:
    assert format_count(number) == text


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(0.0, "$0.00"), (0.0042, "$0.0042"), (0.04, "$0.04"), (12.5, "$12.50"), (None, "price unknown")],
)
def test_an_unknown_price_is_never_shown_as_nothing(dollars: float | None, text: str) -> None:
    assert format_money(dollars) == text


@pytest.mark.parametrize(
    ("wait", "most", "text"),
    [
        (4.0, 3, "Overloaded: retrying in 4 s (2 of 3)"),
        (4.25, 3, "Overloaded: retrying in 4.2 s (2 of 3)"),
        (0.0, 3, "Overloaded: retrying now (2 of 3)"),
        (60.0, 0, "Overloaded: retrying in 1 m 00 s (attempt 2)"),
    ],
)
def test_a_wait_is_told_with_its_cause_and_its_count(wait: float, most: int, text: str) -> None:
    assert describe_retry(RetryRow(2, wait, "Overloaded.", most=most)) == text


def test_tokens_that_nobody_counted_are_not_none() -> None:
    assert describe_ending(TurnEndRow(StopReason.END_TURN, cost=None, steps=1)) == (
        "done · 1 step · tokens unknown · 0.0 s"
    )


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (StopReason.CANCELLED, "interrupted · 1 step · tokens unknown · 2.0 s"),
        (StopReason.ERROR, "failed · 1 step · 2.0 s"),
    ],
)
def test_usage_that_was_never_reported_is_not_zero(reason: StopReason, text: str) -> None:
    assert describe_ending(TurnEndRow(reason, steps=1, seconds=2.0)) == text


def test_the_end_of_a_turn_is_one_line_of_facts() -> None:
    row = TurnEndRow(StopReason.END_TURN, usage=Usage(input=12_000, output=300), cost=0.04, steps=7, seconds=21)
    assert describe_ending(row) == "done · 7 steps · 12.3k tokens · $0.04 · 21 s"


def test_an_end_over_a_failure_says_so() -> None:
    row = TurnEndRow(StopReason.END_TURN, steps=2, failed=("the last edit", "the last command (exit 1)"))
    assert describe_ending(row).startswith("done, but the last edit and the last command (exit 1) failed · 2 steps")


def test_a_limit_is_named_in_the_words_it_was_reported_with() -> None:
    row = TurnEndRow(StopReason.MAX_TURN_REQUESTS, "steps", "The limit of 3 steps is reached.", steps=3)
    assert describe_ending(row).startswith("stopped: The limit of 3 steps is reached · 3 steps")


NOW = 1_795_000_000.0
AGES = [(-9, "just now"), (59, "just now"), (60, "1 min ago"), (3599, "59 min ago"), (3600, "1 h ago")]


@pytest.mark.parametrize(("seconds", "text"), [*AGES, (86_400, "1 day ago"), (3 * 86_400, "3 days ago")])
def test_ages_are_told_by_their_largest_unit(seconds: float, text: str) -> None:
    assert format_age(NOW - seconds, NOW) == text


def test_after_a_week_an_age_is_a_date() -> None:
    assert format_age(NOW - 8 * 86_400, NOW).startswith("2026-11-")
