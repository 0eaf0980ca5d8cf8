import pytest
from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo, asks, shell

pytestmark = [pytest.mark.process, pytest.mark.slow]


async def test_days_models_and_tools_are_printed_and_given_as_json(halo: Halo) -> None:
    async with ModelServer([Turn(text="Done.")]) as server:
        await halo.run("-p", *asks(server), "hi")
    await halo.run("-p", "-m", halo.script({"call": [shell("ls")]}, {"text": "Done."}), "hi")
    done = await halo.run("stats")
    assert (done.code, done.err) == (0, "")
    table = [line.split() for line in done.out.splitlines() if line]
    assert table[0] == ["day", "tasks", "turns", "requests", "tokens", "cost"]
    assert table[1][1:4] == table[2][1:4] == ["2", "2", "3"]
    assert ["execute_command", "1"] in table
    result = (await halo.run("stats", "--since", "1h", "--json")).result
    assert result["tools"] == {"execute_command": {"calls": 1, "failed": 0}}
    assert {name.partition("/")[0] for name in result["models"]} == {"openai", "scripted"}


async def test_nothing_yet_is_said(halo: Halo) -> None:
    done = await halo.run("stats", "--since", "7d")
    assert (done.code, done.out) == (0, "No tasks since 7d.\n")
