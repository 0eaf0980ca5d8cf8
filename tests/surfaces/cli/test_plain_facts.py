"""What `halo` says of sizes, names and ends is what is so: findings of a trial by hand, one test each."""

import pytest
from tests.surfaces.cli.halo_process import Halo, shell

pytestmark = [pytest.mark.process, pytest.mark.slow]

HI = {"text": "Hello."}


async def test_of_a_large_file_the_lines_that_were_given_are_named(halo: Halo) -> None:
    (halo.folder / "many.log").write_text("".join(f"line {number}\n" for number in range(60_000)))
    done = await halo.run("run", "-m", halo.script(HI), "look at @many.log")
    assert "Included: many.log: lines 1-1000 of 60,000" in done.out


async def test_an_exit_code_of_ones_own_asks_nobody(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script({"call": [shell("exit 3")]}, HI), "go")
    assert (done.code, done.out) == (0, "Hello.\n")


async def test_a_folder_with_a_line_break_in_its_name_stays_on_one_line(halo: Halo) -> None:
    folder = halo.root / "new\nline"
    folder.mkdir()
    await halo.run("-p", "-m", halo.script(HI), "hi", cwd=folder)
    done = await halo.run("tasks", "list", "--all")
    assert len(done.out.splitlines()) == 2
    assert "new line" in done.out


@pytest.mark.parametrize("status", ["done", "end_turn"])
async def test_an_end_is_found_by_its_label_and_by_its_name_in_json(halo: Halo, status: str) -> None:
    await halo.run("-p", "-m", halo.script(HI), "hi")
    done = await halo.run("tasks", "list", "--status", status, "--json")
    assert [line["status"] for line in done.lines] == ["end_turn"]


async def test_a_task_of_one_step_has_no_plural(halo: Halo) -> None:
    await halo.run("-p", "-m", halo.script(HI), "hi")
    assert "· 1 step ·" in (await halo.run("tasks", "show", halo.tasks[0])).out


@pytest.mark.parametrize("size", [1000, 200_000])
async def test_a_count_of_earlier_lines_never_is_less_than_what_was_printed(halo: Halo, size: int) -> None:
    done = await halo.run("run", "-m", halo.script({"call": [shell(f"seq 1 {size}")]}, HI), "go")
    assert ("… 988 earlier lines" if size == 1000 else "… more than ") in done.out


async def test_refusals_without_a_person_name_the_call_and_the_reason(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script({"call": [shell("touch made", risky=True)]}, HI), "go")
    assert done.code == 4
    assert "touch made" in done.err


async def test_the_first_line_says_the_mode_in_force_and_ends_with_a_word(halo: Halo) -> None:
    done = await halo.run("run", "--mode", "plan", "-m", halo.script(HI, HI), "hi")
    again = await halo.run("run", "-c", "again")
    for out in (done.out, again.out):
        first = out.splitlines()[0]
        assert "plan mode" in first
        assert not first.rstrip().endswith("·")
        assert "Mode: plan" not in out


async def test_a_registry_that_does_not_answer_is_named_and_no_model_is(halo: Halo) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('[mcp]\nregistry = "http://127.0.0.1:9"\n')
    done = await halo.run("mcp", "search", "files")
    assert done.code != 0
    assert "Cannot reach http://127.0.0.1:9" in done.err
    assert "base URL" not in done.err
