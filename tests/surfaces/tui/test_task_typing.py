"""What is typed in an opened task: slash commands, shell commands, notes, completions and earlier prompts."""

import pytest
from tests.surfaces.cli.halo_process import Halo, call, shell
from tests.surfaces.tui.conftest import Begin, OpenBoard

from halocline.client import SLASH_COMMANDS
from halocline.protocol import events as ev
from halocline.surfaces.slash.handlers import HANDLERS

pytestmark = [pytest.mark.slow, pytest.mark.process]

DONE = {"text": "Done."}
WRITES = {"call": [call("write_to_file", path="a.txt", content="first\n")]}
ASKS = {"call": [call("ask_followup_question", question="Which color?", options=["red", "green"])]}


async def finish_task(halo: Halo, *turns: dict, prompt: str = "go") -> None:
    model = halo.script(*turns, DONE, {"text": "Once more."})
    assert (await halo.run("-p", "--approval-mode", "yolo", "-m", model, prompt)).code == 0


async def open_first(board) -> None:
    await board.sees("ended (1)")
    await board.presses("enter")
    await board.sees("Done.")


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("/status", ("Task  ", "Model  ", "Approvals  ")),
        ("/diff", ("1 file changed", "a.txt", "+ first")),
        ("/cost", ("halo tasks show",)),
        ("/todos", ("The to-do list is empty.",)),
        ("/context", ("Total",)),
        ("/checkpoint", ("Start",)),
        ("/mode", ("act",)),
        ("/help", ("/status", "list the slash commands")),
        ("/rewind", ("Timeline", "Going back")),
        ("/theme plain", ("Theme: plain",)),
        ("!echo from the shell", ("from the shell", "exit code 0")),
        ("# use tabs", ("Memory is off",)),
        ("/clear", ("is for a conversation in a terminal", "halo attach")),
        ("/add-dir ..", ("is for a conversation in a terminal",)),
    ],
)
async def test_what_is_typed_is_answered_and_reaches_no_model(
    halo: Halo, open_board: OpenBoard, typed: str, shown: tuple[str, ...]
):
    await finish_task(halo, WRITES)
    async with open_board() as board:
        await open_first(board)
        await board.presses("tab")
        await board.types(typed)
        await board.presses("enter")
        await board.sees(*shown)
    assert len([event for event in halo.log() if isinstance(event, ev.TurnStarted)]) == 1


async def test_every_command_that_is_offered_is_answered(halo: Halo, open_board: OpenBoard):
    await finish_task(halo, WRITES)
    leaving = {"quit", "resume", "fork", "rewind", "undo", "btw", "compact"}
    async with open_board() as board:
        await open_first(board)
        await board.presses("tab", "slash")
        await board.sees("/init", "/review")
        offered = {choice.text.strip("/ ") for choice in board.app.screen.composer.completions.choices}
        assert not offered & {"clear", "add-dir"}
        assert offered >= {name for name, row in HANDLERS.items() if not row.reopens}
        await board.presses("escape", "backspace")
        for name in sorted(offered & HANDLERS.keys() - leaving):
            await board.types(f"/{name}")
            await board.presses("escape")
            await board.sends()
        await board.settles()
        assert "is for a conversation" not in "\n".join(note.row.text for _, note in board.app.screen._blocks._notes)
    assert {"clear", "add-dir"} <= SLASH_COMMANDS.keys()


async def test_completions_are_chosen_by_arrows_tab_and_enter(halo: Halo, open_board: OpenBoard):
    (halo.folder / "parser.py").write_text("")
    await finish_task(halo, WRITES)
    async with open_board() as board:
        await open_first(board)
        await board.presses("tab")
        await board.types("look at @pars")
        await board.sees("  parser.py")
        await board.presses("tab")
        await board.sees("look at @parser.py")
        await board.presses("ctrl+c")
        await board.types("/sta")
        await board.sees("/status", "version, folder, model")
        await board.presses("enter")
        await board.sees("Task  ", "Approvals  ")
        await board.types("/theme ")
        await board.sees("color-blind", "high-contrast")
        await board.presses("down", "down", "enter")
        await board.sees("Theme: color-blind")
        await board.types("/th")
        await board.sees("/theme")
        await board.presses("escape")
        await board.sees_no("show or choose the colors")
        assert board.app.screen.composer.text == "/th"


async def test_earlier_prompts_come_back_also_those_of_other_terminals(halo: Halo, open_board: OpenBoard):
    await finish_task(halo)
    (halo.home / "prompt_history").write_text("\n# 2026-11-01 10:00:00\n+typed in a terminal\n+of two lines\n")
    async with open_board() as board:
        await open_first(board)
        await board.presses("tab")
        await board.types("a draft")
        await board.presses("up")
        await board.sees("typed in a terminal", "of two lines")
        await board.presses("down")
        assert board.app.screen.composer.text == "a draft"
        await board.presses("ctrl+c")
        await board.types("a second prompt")
        await board.presses("enter")
        await board.sees("❯ a second prompt", "Once more.")
        await board.presses("tab", "tab", "tab", "up")
        await board.sees("a second prompt")
    assert "+a second prompt" in (halo.home / "prompt_history").read_text()


async def test_the_theme_of_the_settings_is_used_and_another_applies_at_once(halo: Halo, open_board: OpenBoard):
    def find_style(board, text: str) -> str:
        strips = board.app.screen._compositor.render_strips()
        return next(str(part.style) for strip in strips for part in strip if part.text.strip() == text)

    await halo.run("config", "set", "terminal.theme", "color-blind")
    await finish_task(halo, {"call": [shell("echo one; false")]})
    async with open_board() as board:
        await open_first(board)
        await board.sees("exit code 1")
        assert "cyan" in find_style(board, "◆")
        await board.presses("tab")
        await board.types("/theme plain")
        await board.presses("enter")
        await board.sees("Theme: plain")
        assert "cyan" not in find_style(board, "◆")
        strips = board.app.screen._compositor.render_strips()
        colors = {part.style.color.name for strip in strips for part in strip if part.style and part.style.color}
        assert not colors & {"cyan", "green", "red", "yellow", "bright_blue", "magenta"}
    assert 'theme = "plain"' in (halo.home / "settings.toml").read_text()


async def test_an_undo_is_asked_on_a_card_even_while_something_else_waits(
    halo: Halo, begin: Begin, open_board: OpenBoard
):
    begin({"call": [shell("echo made > made", risky=True)]}, DONE)
    async with open_board() as board:
        await board.sees("needs you (1)")
        await board.presses("enter")
        await board.sees("allow once")
        await board.presses("tab")
        await board.types("/approvals yolo")
        await board.presses("enter")
        await board.sees("? Switch to yolo?", "esc back")
        await board.presses("tab")
        await board.decides("2")
        await board.sees("allow once")
    assert not (halo.folder / "made").exists()


async def test_a_question_of_our_own_takes_typed_words_and_nothing_else_is_sent(halo: Halo, open_board: OpenBoard):
    await finish_task(halo)
    async with open_board() as board:
        await open_first(board)
        await board.presses("tab")
        for command, shown in (("/approvals ask", "act · ask"), ("/approvals yolo", "? Switch to yolo?")):
            await board.types(command)
            await board.presses("enter")
            await board.sees(shown)
        await board.types("yes please")
        await board.presses("enter")
        await board.sees("Not sent: a question waits.", "yes please")
        await board.presses("ctrl+u")
        await board.types("yes")
        await board.presses("enter")
        await board.sees("YOLO")
    assert len([event for event in halo.log() if isinstance(event, ev.TurnStarted)]) == 1


async def test_a_message_that_a_stopped_turn_did_not_read_is_sent_or_taken_back_by_a_key(
    halo: Halo, begin: Begin, open_board: OpenBoard
):
    begin({"call": [shell("sleep 60")]}, {"text": "Sent.", "expect": "one thing"})
    async with open_board() as board:
        await board.sees("script")
        await board.presses("enter")
        await board.sees("sleep 60")
        await board.presses("tab")
        for words in ("one thing", "another"):
            await board.types(words)
            await board.presses("enter")
            await board.sees(f"↳ {words} · sent before the next step")
        await board.presses("ctrl+x")
        await board.sees("❯ one thing · Enter sends it", "❯ another · Enter sends it")
        await board.presses("up")
        await board.sees_no("another · Enter sends it")
        await board.sees("another")
        await board.presses("ctrl+u", "enter")
        await board.sees("Sent.")


async def test_a_prompt_decides_what_waits_only_if_it_is_sent_at_once(halo: Halo, begin: Begin, open_board: OpenBoard):
    begin({"call": [shell("echo made > made", risky=True)]}, DONE)
    async with open_board() as board:
        await board.sees("needs you (1)")
        await board.presses("enter")
        await board.sees("allow once")
        await board.presses("tab")
        await board.types("make it elsewhere")
        await board.presses("enter")
        await board.sees("Not sent: it would reject what waits", "make it elsewhere", "allow once")
        await board.presses("ctrl+s")
        await board.sees("❯ make it elsewhere", "Done.")
    assert not (halo.folder / "made").exists()
