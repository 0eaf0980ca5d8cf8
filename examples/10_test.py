"""Test a program with a scripted model: no key, no network, the same every time. Run it with pytest."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import halocline
from halocline.testing import Call, Scripted, Turn, assert_called, replay


@halocline.tool(effect="reads")
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def test_the_model_gets_what_the_tool_returns(
    halocline_workspace: Path, halocline_model: Callable[..., Scripted]
) -> None:
    model = halocline_model(Turn(calls=(Call("double", {"number": 21}),)), Turn("It is 42.", expect="42"))
    done = halocline.run_sync("Double 21.", folder=halocline_workspace, model=model, tools=[double])
    assert done.text == "It is 42."
    assert assert_called(done, "double", number=21).text == "42"
    assert asyncio.run(replay(done.task)) == ()
