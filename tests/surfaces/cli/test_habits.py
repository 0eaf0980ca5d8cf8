"""Tables of what people do in a terminal, and of sequences of keys that were tried by hand: which tests hold each."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.docs.claims import ROOT, list_tests

FOLDER = Path(__file__).parent
MOST_IN_PART = 4
NEW_SEQUENCES = 50
Rows = list[Mapping[str, Any]]


def read_rows(file: str, kind: str) -> Rows:
    return tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))[kind]


HABITS = read_rows("habits.toml", "habit")
EARLIER = read_rows("live/earlier_sequences.toml", "case")
SEQUENCES = {case["name"] for case in read_rows("live/hostile_sequences.toml", "case")}


def exists(test: str) -> bool:
    file, _, name = test.partition("::")
    return (ROOT / file).is_file() and name in list_tests(ROOT / file)


def find_unknown(rows: Rows) -> list[str]:
    """Return the tests and sequences that rows name and that do not exist."""
    tests = [test for row in rows for test in row.get("tests", ()) if not exists(test)]
    return tests + [name for row in rows for name in row.get("sequences", ()) if name not in SEQUENCES]


def test_sixty_things_are_named_once_with_a_key_and_what_is_missing_is_said() -> None:
    assert len({habit["does"] for habit in HABITS}) == len(HABITS) == 60
    assert [habit["does"] for habit in HABITS if not habit["keys"]] == []
    assert [habit["does"] for habit in HABITS if (habit["holds"] == "part") is not bool(habit.get("note"))] == []


def test_all_things_hold_and_few_in_part() -> None:
    assert {habit["holds"] for habit in HABITS} <= {"yes", "part"}
    assert sum(habit["holds"] == "part" for habit in HABITS) <= MOST_IN_PART


def test_each_thing_is_held_by_tests_and_sequences_that_exist() -> None:
    assert [habit["does"] for habit in HABITS if not habit["tests"]] == []
    assert find_unknown(HABITS) == []


def test_each_earlier_sequence_is_tried_again_and_many_are_new() -> None:
    assert len({case["name"] for case in EARLIER}) == len(EARLIER) == 75
    assert [case["name"] for case in EARLIER if not (case.get("sequences") or case.get("tests"))] == []
    assert find_unknown(EARLIER) == []
    assert len(SEQUENCES - {name for case in EARLIER for name in case.get("sequences", ())}) >= NEW_SEQUENCES
