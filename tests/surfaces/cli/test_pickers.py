"""Commands without the task that they are about: lists to pick from in a real terminal, and lists elsewhere."""

import argparse
import shlex
from collections.abc import Iterator

import pytest
from tests.surfaces.cli.forked import HALO
from tests.surfaces.cli.halo_process import Halo, call
from tests.surfaces.cli.live.tmux_terminal import PROMPT, TmuxTerminal

from halocline.surfaces.cli.args.command_line import build_parser
from halocline.surfaces.cli.args.tasks import PICKED, TASK_ID
from halocline.surfaces.cli.command_table import COMMANDS

pytestmark = [pytest.mark.process, pytest.mark.slow]

HI = {"text": "Hello."}
NEEDS_ONE = (
    *("tasks show", "tasks rename", "tasks favourite", "tasks tag later", "tasks delete"),
    *("export", "report", "fork", "logs", "replay", "policy audit"),
)
"""Commands about a task that has to be named or picked."""


@pytest.fixture
def terminal(halo: Halo) -> Iterator[TmuxTerminal]:
    terminal = TmuxTerminal(halo, 100, 30)
    yield terminal
    terminal.close()


def run_halo(terminal: TmuxTerminal, words: str, before: str = "") -> TmuxTerminal:
    return terminal.runs(f"{before} {shlex.join([*HALO, *words.split()])}; echo code $?".strip())


async def add_tasks(halo: Halo, *prompts: str) -> str:
    model = halo.script(*[HI] * 3)
    for prompt in prompts:
        assert (await halo.run("-p", "-m", model, prompt)).code == 0
    return model


def positionals(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from positionals(below)
        elif not action.option_strings:
            yield action


def test_every_command_about_a_task_works_without_naming_it():
    found = [action for name in COMMANDS for action in positionals(build_parser(name))]
    about_tasks = [action for action in found if TASK_ID in str(action.help)]
    assert [action for action in about_tasks if action.nargs != "?"] == []
    assert len([action for action in found if "pick a task" in str(action.help)]) == len(NEEDS_ONE)
    assert PICKED.startswith(TASK_ID)


@pytest.mark.parametrize("words", NEEDS_ONE)
async def test_without_a_terminal_the_tasks_are_named(halo: Halo, words: str):
    none = await halo.run(*words.split())
    assert (none.code, none.out) == (2, "")
    assert "There are no tasks yet." in none.err
    await add_tasks(halo, "count the rows")
    done = await halo.run(*words.split())
    assert (done.code, done.out) == (2, "")
    assert f"Which task? Add its ID to the command.\n      {halo.tasks[0]}  count the rows" in done.err


@pytest.mark.parametrize("words", NEEDS_ONE)
async def test_on_a_terminal_the_task_is_picked_and_escape_cancels(halo: Halo, terminal: TmuxTerminal, words: str):
    await add_tasks(halo, "count the rows")
    before = terminal.modes()
    run_halo(terminal, words).sees("? Which task?", "❯ count the rows", "done · just now")
    terminal.presses("Escape").sees("code 130")
    assert "Which task?" not in terminal.screen
    assert terminal.modes() == before


async def test_a_task_is_found_by_typing_and_by_arrows(halo: Halo, terminal: TmuxTerminal):
    await add_tasks(halo, "count the rows", "write the docs", "sort the rows")
    run_halo(terminal, "tasks show").sees("❯ sort the rows")
    terminal.types("rows").sees("2 of 3").sees_no("write the docs").presses("Down").sees("❯ count the rows")
    terminal.presses("Enter").sees("code 0", "count the rows", "Hello.")
    assert "sort the rows" not in terminal.screen
    run_halo(terminal, "tasks show").sees("❯ sort the rows").types("nothing like it").sees("Nothing matches")
    terminal.presses("Enter").presses("C-u").sees("❯ sort the rows").presses("Up").sees("❯ count the rows")
    terminal.presses("C-c").sees("code 130")


async def test_what_is_typed_before_the_list_is_there_picks_nothing(halo: Halo, terminal: TmuxTerminal):
    await add_tasks(halo, "count the rows", "write the docs")
    slow = f"sleep 2; {shlex.join([*HALO, 'tasks', 'show'])}; echo code $?"
    terminal.runs(slow).types("docs").presses("Enter").sees("› docs", "1 of 2", "❯ write the docs")


async def test_a_task_is_resumed_from_the_list_also_one_of_another_folder(halo: Halo, terminal: TmuxTerminal):
    elsewhere = halo.root / "elsewhere"
    elsewhere.mkdir()
    model = halo.script(HI)
    await halo.run("-p", "-m", model, "far away", cwd=elsewhere)
    await halo.run("-p", "-m", model, "close by")
    run_halo(terminal, f"-r -m {model}").sees("❯ close by", "~/project", "far away", "~/elsewhere")
    terminal.presses("Down", "Enter").sees("This task works in its own folder", "Ask anything")
    terminal.presses("C-d").sees("code 0")


@pytest.mark.parametrize("words", ["-r", "run -r"])
async def test_a_resumed_task_needs_a_prompt_only_where_nobody_stays(halo: Halo, terminal: TmuxTerminal, words: str):
    await add_tasks(halo, "count the rows")
    run_halo(terminal, f"{words} -m {halo.script(HI)}").sees("❯ count the rows").presses("Enter")
    terminal.sees("Ask anything" if words == "-r" else "is finished and needs a prompt")


async def test_the_state_of_each_task_is_shown_and_an_open_one_is_joined(halo: Halo, terminal: TmuxTerminal):
    await add_tasks(halo, "over and done")
    asks = {"call": [call("ask_followup_question", question="Which color?", options=["red", "green"])]}
    other = halo.terminal("-m", halo.script(asks, HI), "paint it")
    other.expect("Which color")
    run_halo(terminal, "tasks show").sees("paint it       needs you", "over and done  done")
    terminal.presses("Escape").sees("code 130").runs("clear").sees_no("code 130")
    run_halo(terminal, "attach").sees("❯ paint it  needs you").presses("Enter").sees("red", "Which color?")
    other.close(force=True)


@pytest.mark.parametrize(("before", "words"), [("TERM=dumb", "-r"), ("", "-r --plain"), ("TERM=dumb", "export")])
async def test_plain_terminals_get_numbered_lines(halo: Halo, terminal: TmuxTerminal, before: str, words: str):
    await add_tasks(halo, "count the rows", "write the docs")
    run_halo(terminal, words, before).sees("Which task?", "1 or 2 (Enter: 1):", "  2  ")
    terminal.presses("C-c").sees("code 130")


@pytest.mark.parametrize("size", [(30, 10), (50, 20)])
async def test_the_list_fits_small_windows_and_is_drawn_again_in_another_size(
    halo: Halo, terminal: TmuxTerminal, size: tuple[int, int]
):
    await add_tasks(halo, "count the rows", "write the docs")
    run_halo(terminal, "tasks show").sees("❯ write the docs")
    terminal.resizes(*size).sees("❯ write the docs\n    done · just now", "count the rows\n    done · just now")
    terminal.presses("Down").resizes(100, 30).sees("❯ count the rows", "Esc cancel").presses("Escape")


async def test_a_title_with_codes_steers_nothing(halo: Halo, terminal: TmuxTerminal):
    await add_tasks(halo, "red \x1b[31m and \x1b]0;title\a \u202eevil")
    run_halo(terminal, "tasks show").sees("❯ red")
    assert "\x1b[31m and" not in terminal.colored
    assert "\u202e" not in terminal.screen
    terminal.presses("Escape").sees("code 130")


async def test_a_stopped_list_comes_back(halo: Halo, terminal: TmuxTerminal):
    await add_tasks(halo, "count the rows")
    run_halo(terminal, "tasks show").sees("❯ count the rows").presses("C-z").sees("Stopped", PROMPT.strip())
    terminal.runs("fg").sees("❯ count the rows").presses("Escape").sees(PROMPT.strip())


async def test_a_task_is_picked_and_renamed(halo: Halo, terminal: TmuxTerminal):
    await add_tasks(halo, "count the rows")
    run_halo(terminal, "tasks rename").sees("❯ count the rows").presses("Enter").sees("New name")
    terminal.types("Row counter").presses("Enter").sees("to Row counter.", "code 0")


def test_a_provider_to_sign_in_at_is_picked_by_typing_a_part_of_its_name(halo: Halo, terminal: TmuxTerminal) -> None:
    run_halo(terminal, "login --no-test", "ANTHROPIC_API_KEY=sk-ant-0123456789876")
    terminal.sees("? Which provider?", "❯ anthropic", "ANTHROPIC_API_KEY …9876", "Type to filter")
    terminal.types("mistr").sees("❯ mistral", "1 of ").sees_no("anthropic").presses("Enter")
    terminal.sees("Key for Mistral (hidden as you paste it)").presses("C-c").sees("code 130")
    run_halo(terminal, "login").sees("Which provider?").presses("Escape").sees("code 130\n")
