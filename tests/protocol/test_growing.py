from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from halocline.protocol.state.persistent import Series, Table, change_table, grow_series
from halocline.protocol.state.reducer import fold_events, reduce_event
from halocline.protocol.state.state import State
from halocline.task.log import read_log

LOGS = sorted((Path(__file__).parents[1] / "golden" / "format-1").glob("*.jsonl"))
ADDED = st.lists(st.tuples(st.integers(0, 30), st.lists(st.integers(0, 5), max_size=3)), max_size=30)


@given(ADDED)
def test_a_series_is_a_tuple_whatever_was_added_to_it_or_to_older_ones(added):
    known = [(Series(), ())]
    for at, items in added:
        series, items_before = known[at % len(known)]
        known.append((series.plus(*items), (*items_before, *items)))
    for series, items in known:
        assert series == items
        assert (len(series), list(reversed(series)), bool(series)) == (len(items), list(reversed(items)), bool(items))
        assert [series[at] for at in range(-len(items), len(items))] == [*items, *items]


@given(st.lists(st.integers()), st.slices(12))
def test_a_part_of_a_series_is_the_part_of_the_tuple_and_can_be_added_to(items, part):
    series = Series(items)
    assert grow_series(series[part], 7) == (*items[part], 7)
    assert series == tuple(items)


@pytest.mark.parametrize("at", [3, -4])
def test_beyond_a_series_there_is_nothing(at):
    longer = (shorter := Series("abc")).plus("d")
    assert len(longer) == 4
    with pytest.raises(IndexError):
        shorter[at]


@given(ADDED)
def test_a_table_is_a_dict_whatever_was_changed_in_it_or_in_older_ones(added):
    known = [(Table({1: 1}), {1: 1})]
    for step, (at, keys) in enumerate(added):
        table, values = known[at % len(known)]
        changes = dict.fromkeys(keys, step % 3)
        known.append((change_table(table, changes), {**values, **changes}))
    for table, values in known:
        assert list(table.items()) == list(table.pairs()) == list(values.items())
        assert len(table) == len(values)
        assert [key in table for key in range(6)] == [key in values for key in range(6)]


def test_a_change_that_changes_nothing_gives_the_same_table():
    table = change_table({}, {"a": 1})
    assert change_table(table, {"a": 1}) is table


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_an_older_state_stays_as_it_was_when_the_task_goes_on(log: Path):
    events, states = list(read_log(log)), [State()]
    for event in events:
        states.append(reduce_event(states[-1], event))
    assert [at for at, state in enumerate(states) if state != fold_events(events[:at])] == []
