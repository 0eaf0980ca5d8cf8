"""The test kit of programs: what it says of a task, and that it costs a run of pytest nothing."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

import halocline
from halocline.testing import Call, Scripted, Turn, assert_called, fixtures

halocline_home, halocline_workspace = fixtures.halocline_home, fixtures.halocline_workspace
halocline_model = fixtures.halocline_model


@halocline.tool(effect="reads")
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def test_a_call_is_found_by_its_arguments_and_a_missing_one_names_those_there_were(
    halocline_workspace, halocline_model
):
    model = halocline_model(Turn(calls=(Call("double", {"number": 1}), Call("double", {"number": 21}))), "Done.")
    done = halocline.run_sync("Double.", folder=halocline_workspace, model=model, tools=[double])
    assert assert_called(done, "double", number=21).text == "42"
    assert assert_called(done, "double").text == "2"
    with pytest.raises(AssertionError, match=r"(?s)No call of double with .*3.*'number': 1.*'number': 21"):
        assert_called(done, "double", number=3)
    with pytest.raises(AssertionError, match="none"):
        assert_called([], "double")


def test_a_text_is_a_turn_without_calls():
    assert Scripted(["Done."])._turns == (Turn("Done."),)


@pytest.mark.process
def test_pytest_loads_the_plug_in_by_itself_and_nothing_of_ours_with_it():
    (found,) = [one for one in entry_points(group="pytest11") if one.value.startswith("halocline")]
    code = f"import sys, {found.value}; print(*sorted(one for one in sys.modules if one.startswith('halocline')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == [
        "halocline",
        "halocline._version",
        "halocline.lazy_modules",
        "halocline.testing",
        "halocline.testing.fixtures",
    ]
