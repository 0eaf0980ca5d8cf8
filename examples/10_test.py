"""Test a program with a scripted model: no key, no network, the same every time. Run it with pytest."""

import asyncio
from pathlib import Path

import halocline
from halocline.testing import Call, Turn, calls_of, replay
from halocline.testing.fixtures import Script

pytest_plugins = ["halocline.testing.fixtures"]


@halocline.tool(effect="reads")
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def test_the_model_gets_what_the_tool_returns(workspace: Path, scripted: type[Script]) -> None:
    model = scripted(Turn(calls=(Call("double", {"number": 21}),)), Turn("It is 42.", expect="42"))
    done = halocline.run_sync("Double 21.", folder=workspace, model=model, tools=[double])
    assert done.text == "It is 42."
    assert [call.text for call in calls_of(done, "double")] == ["42"]
    assert asyncio.run(replay(done.task)) == ()
