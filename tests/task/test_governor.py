import pytest
from msgspec.structs import replace

from halocline.ports.model import Terms
from halocline.protocol.events.limits import Limits
from halocline.protocol.events.subagents import Subtask
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.budget import BudgetState, call_signature
from halocline.protocol.state.state import State
from halocline.protocol.state.subagents import SubagentsState
from halocline.protocol.state.turn import TurnState
from halocline.task.governor import STOP_AT, Governor, Stopwatch, note_repetition
from halocline.task.spending import Spending


def governor_of(limits, state, seconds=None):
    spending = Spending(lambda model, read: Terms(), limits)
    spending.bind(lambda *events: None, lambda: state)
    return Governor(spending, seconds)


STATE = State(turn=TurnState(started_at=100.0), budget=BudgetState(steps=5, spent=0.5))


@pytest.mark.parametrize(
    ("limits", "changes", "limit"),
    [
        (Limits(), {}, None),
        (Limits(steps=5), {}, "steps"),
        (Limits(steps=5), {"forgiven_steps": 1}, None),
        (Limits(steps=5), {"forgiven_steps": 1, "child_steps": 1}, "steps"),
        (Limits(), {"unpriced": 1}, None),
        (Limits(seconds=10), {}, "time"),
        (Limits(seconds=11), {}, None),
        (Limits(), {"failures_in_row": 3}, "failures"),
        (Limits(failures=4), {"failures_in_row": 3}, None),
        (Limits(), {"same_call_in_row": STOP_AT}, "repetition"),
        (Limits(), {"same_call_in_row": STOP_AT - 1}, None),
    ],
)
def test_the_first_limit_that_is_reached_is_named(limits, changes, limit):
    state = replace(STATE, budget=replace(STATE.budget, **changes))
    verdict = governor_of(limits, state, lambda state: 10.0).verdict(state)
    assert (verdict.limit if verdict else None) == limit


def test_the_time_left_is_counted_from_the_start_of_the_turn():
    now = 1_000.0
    governor = governor_of(Limits(seconds=30), STATE, Stopwatch(lambda: now).seconds)
    assert governor.seconds_left(STATE) == 30.0
    now += 12
    assert governor.seconds_left(STATE) == 18.0
    assert governor_of(Limits(), STATE).seconds_left(STATE) is None


def test_a_limit_that_was_extended_counts_from_there():
    now = 1_000.0
    governor = governor_of(Limits(seconds=30), STATE, Stopwatch(lambda: now).seconds)
    assert governor.verdict(STATE) is None
    now += 40
    assert governor.verdict(STATE)
    assert governor.verdict(replace(STATE, turn=TurnState(started_at=140.0))) is None


def test_the_third_same_call_with_the_same_result_is_remarked_on():
    call = ToolCall("x", "read_file", {"path": "a"})
    state = State(budget=BudgetState(last_outcome=(call_signature(call), "text"), same_call_in_row=2))
    assert "3 times" in note_repetition(state, call, "text")
    assert note_repetition(state, call, "other text") == ""
    assert note_repetition(replace(state, budget=replace(state.budget, same_call_in_row=1)), call, "text") == ""


def test_a_sub_agent_is_held_to_the_budget_that_it_was_given():
    given = Subtask("parent", "call", "one", steps=2, cost=0.5, seconds=60)
    limits = Limits(steps=200, failures=7)
    child = State(subagents=SubagentsState(subtask=given), budget=BudgetState(steps=2))
    governor = governor_of(limits, child)
    assert governor.spending.limits_in(State()) is limits
    assert governor.spending.limits_in(child) == Limits(2, 0.5, 60, 7)
    stopped = governor.verdict(child)
    assert stopped is not None
    assert stopped.limit == "steps"
