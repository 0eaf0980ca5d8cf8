"""Commands without the word that they need: they list, or name what there is."""

import pytest
from tests.surfaces.cli.halo_process import Halo, ended, until_written
from tests.surfaces.cli.test_halo_attach import FOR_EVER

pytestmark = [pytest.mark.process, pytest.mark.slow]
LISTING = {
    "tasks": "list",
    "checkpoints": "list",
    "rules": "list",
    "mcp": "list",
    "trust": "list",
    "hooks": "list",
    "policy": "rules",
    "config": "list",
}


@pytest.mark.parametrize("command", LISTING)
async def test_a_command_alone_lists(halo: Halo, command: str) -> None:
    await halo.run("-p", "-m", halo.script({"text": "Done."}), "hi")
    alone, listed = await halo.run(command), await halo.run(command, LISTING[command])
    assert (alone.code, alone.out, alone.err) == (0, listed.out, listed.err)
    assert alone.out


async def test_options_of_the_list_need_no_action_either(halo: Halo) -> None:
    await halo.run("-p", "-m", halo.script({"text": "Done."}), "hi")
    assert (await halo.run("tasks", "--all", "--json")).lines[0]["title"] == "hi"
    assert "list|show" in (await halo.run("tasks", "--help")).out
    assert (await halo.run("tasks", "lst")).code == 2


@pytest.mark.parametrize("words", [("-r",), ("-p", "-r"), ("-p", "--input-format", "stream-json", "-r")], ids=" ".join)
async def test_resuming_without_an_id_names_the_tasks(halo: Halo, words: tuple[str, ...]) -> None:
    none = await halo.run(*words)
    assert (none.code, "No task to resume" in none.err) == (2, True)
    await halo.run("-p", "-m", halo.script({"text": "Done."}), "count the rows")
    done = await halo.run(*words)
    assert done.code == 2
    assert f"{halo.tasks[0]}  count the rows" in done.err
    assert len(halo.tasks) == 1


async def test_attaching_without_an_id_names_the_open_tasks(halo: Halo) -> None:
    await halo.run("-p", "-m", halo.script({"text": "Done."}), "over")
    assert "No task is open" in (await halo.run("attach")).err
    running = await halo.start("-p", "-y", "-m", halo.script(FOR_EVER, name="other"), "wait here")
    await until_written(halo.folder / "began")
    done = await halo.run("attach")
    assert done.code == 2
    assert "wait here" in done.err
    assert "over" not in done.err
    running.terminate()
    await ended(running)
