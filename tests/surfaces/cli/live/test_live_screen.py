"""The live screen in a real terminal emulator: typing while the agent works, cards, keys and what is left behind."""

import io
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from typing import Any

import pexpect
import pytest
from tests.samples import choose
from tests.surfaces.cli.forked_terminal import HaloTerminal
from tests.surfaces.cli.halo_process import HALO, Halo, call, shell
from tests.surfaces.cli.live.conftest import Open
from tests.surfaces.cli.live.tmux_terminal import HINT, TmuxTerminal

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.store.themes import TERMINAL
from halocline.surfaces.terminal.application.terminal_keys import DISABLE, ENABLE

pytestmark = [pytest.mark.slow, pytest.mark.process]

HI = {"text": "Hello."}
TOUCH = {"call": [shell("touch made")]}
SLOW: dict[str, Any] = {"text": "First paragraph.\n\n" + "And on and on. " * 99, "pace": 0.02}
OPTIONS = "reject and stop"
TITLE, UNTITLE = "\x1b[22;2t", "\x1b[23;2t"
"""Codes that save the window's title, and give it back."""
SIZES = [(120, 40), (80, 24), (50, 20), (30, 10)]


def prompts(halo: Halo) -> list[str]:
    return [event.content[0].text for event in halo.log() if isinstance(event, ev.TurnStarted)]  # type: ignore[union-attr]


def decisions(halo: Halo) -> list[ev.ApprovalResolved | ev.QuestionAnswered]:
    return [event for event in halo.log() if isinstance(event, ev.ApprovalResolved | ev.QuestionAnswered)]


def test_the_status_bar_says_where_one_is_before_the_first_prompt(halo: Halo, open_terminal: Open) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(halo.folder)], check=True)
    terminal = open_terminal(120).starts("-m", halo.script(HI), "--mode", "plan", "--approval-mode", "yolo")
    terminal.sees("script.toml", "plan mode", "YOLO", "~/project (main)")


def test_a_prompt_sent_while_a_turn_runs_is_queued_and_sent_after_it(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW, {"text": "Second.", "expect": "and then"}))
    terminal.says("go").sees("First paragraph.").says("and then").sees("❯ and then · queued")
    terminal.saw("Second.")
    assert prompts(halo) == ["go", "and then"]


def test_up_takes_the_queued_prompt_back_for_editing(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW, HI)).says("go").sees("First paragraph.")
    terminal.says("and then").sees("· queued").presses("Up").sees_no("· queued")
    assert terminal.composer() == "and then"


@pytest.mark.parametrize("keys", [["C-s"], ["Enter", "Enter"]])
def test_a_prompt_is_sent_to_the_running_turn(halo: Halo, open_terminal: Open, keys: list[str]) -> None:
    look = {"call": [shell("sleep 2")]}
    terminal = open_terminal().starts("-y", "-m", halo.script(look, {**HI, "expect": "look here"})).says("go")
    terminal.sees("running sleep").types("look here").presses(*keys[:1])
    if keys[1:]:
        terminal.sees("· queued").presses(*keys[1:])
    terminal.sees("sent before the next step").sees("Hello.", HINT)
    assert [type(event).__name__ for event in halo.log()].count("SteeringReceived") == 1


def test_escape_stops_the_turn_and_the_draft_stays(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW)).says("go").sees("First paragraph.").types("my draft")
    terminal.sees("my draft").presses("Escape").sees("■ interrupted")
    assert terminal.composer() == "my draft"


def test_a_queue_is_held_after_a_turn_that_was_stopped(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW, HI)).says("go").sees("First paragraph.")
    terminal.says("later").sees("· queued").presses("Escape").sees("Enter sends it").presses("Enter").sees("Hello.")
    assert prompts(halo) == ["go", "later"]


def test_a_message_that_a_stopped_turn_did_not_read_waits_for_a_key_and_comes_into_no_other_turn(
    halo: Halo, open_terminal: Open
) -> None:
    model = halo.script(SLOW, {"text": "Alone."}, {"text": "Together.", "expect": "steer me"})
    terminal = open_terminal().starts("-m", model).says("go").sees("First paragraph.").types("steer me").presses("C-s")
    terminal.sees("sent before the next step").presses("Escape").sees("■ interrupted", "❯ steer me · Enter sends it")
    terminal.says("something else").sees("Alone.", "❯ steer me · Enter sends it", HINT)
    assert prompts(halo) == ["go", "something else"]
    terminal.presses("Enter").sees("Together.").sees_no("Enter sends it")
    assert prompts(halo) == ["go", "something else", "steer me"]


def test_a_held_prompt_stays_in_its_task(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW, HI)).says("go").sees("First paragraph.").says("later")
    terminal.sees("· queued").presses("Escape").sees("Enter sends it").says("/clear").sees("New task")
    terminal.sees_no("Enter sends it")
    first = next(task for task in halo.tasks if halo.state(task).budget.steps)
    terminal.presses("Enter").says(f"/resume {first}").sees("❯ later · Enter sends it")


def test_a_stopped_task_is_opened_and_continues_by_a_key(halo: Halo, open_terminal: Open) -> None:
    model = halo.script(SLOW, {**HI, "expect": "Continue where you left off."})
    terminal = open_terminal().starts("-m", model).says("go").sees("First paragraph.").says("and then")
    terminal.sees("· queued").presses("Escape").sees("Enter sends it").presses("Up").sees_no("Enter sends it")
    terminal.presses("C-c", "C-d").sees("halo -r")
    again = open_terminal().starts("-c", "-m", model).sees("Continue where you left off. (Enter sends this)")
    time.sleep(0.5)
    assert prompts(halo) == ["go"]
    again.presses("Enter").sees("Hello.")
    assert prompts(halo) == ["go", "Continue where you left off."]


def test_a_card_and_what_waits_outlive_a_terminal_that_is_closed(halo: Halo, open_terminal: Open) -> None:
    model = halo.script(TOUCH, HI, HI)
    terminal = open_terminal().starts("-m", model).says("go").sees(OPTIONS).types("and then").sees("❯ and then")
    terminal.presses("Enter").sees("· queued", OPTIONS)
    terminal.close()
    again = open_terminal().starts("-c", "-m", model).sees(OPTIONS, "❯ and then · queued")
    assert not decisions(halo)
    again.decides("y").sees("❯ and then", "Hello.", HINT)
    assert (halo.folder / "made").exists()
    assert prompts(halo) == ["go", "and then"]


STUBBORN = {"call": [shell("trap '' INT TERM HUP; echo began; while :; do sleep 0.1; done")]}
"""A command that takes a while to stop."""


@pytest.mark.parametrize("queued", [[], ["later"]])
def test_a_prompt_sent_right_after_a_stop_is_the_next(halo: Halo, open_terminal: Open, queued: list[str]) -> None:
    terminal = open_terminal().starts("-y", "-m", halo.script(STUBBORN, {**HI, "expect": "look here"}, HI)).says("go")
    terminal.sees("began")
    for prompt in queued:
        terminal.says(prompt).sees(f"❯ {prompt} · queued")
    terminal.presses("C-c").says("look here").saw("Hello.")
    assert prompts(halo)[:2] == ["go", "look here"]


CHOICES = [(["y"], True), (["1"], True), (["Down", "Up", "Enter"], True), (["Escape"], False)]


@pytest.mark.parametrize(("keys", "made"), CHOICES)
def test_a_card_is_decided_by_letters_digits_and_arrows(
    halo: Halo, open_terminal: Open, keys: list[str], made: bool
) -> None:
    terminal = open_terminal().starts("-m", halo.script(TOUCH, HI)).says("go").sees("$ touch made", OPTIONS)
    terminal.decides(*keys).sees_no(OPTIONS).sees("Hello." if made else "interrupted")
    assert (halo.folder / "made").exists() is made


def test_a_call_is_rejected_with_a_reason(halo: Halo, open_terminal: Open) -> None:
    model = halo.script(TOUCH, {**HI, "expect": "not today"})
    terminal = open_terminal().starts("-m", model).says("go").sees(OPTIONS).decides("n").sees("Reason")
    terminal.says("not today").sees("Hello.")
    assert not (halo.folder / "made").exists()


def test_what_was_typed_before_a_card_stays_and_tab_goes_to_it(halo: Halo, open_terminal: Open) -> None:
    late = {**TOUCH, "delay": 1}
    terminal = open_terminal().starts("-m", halo.script(late, HI)).says("go").types("my draft").sees(OPTIONS)
    terminal.decides("y").sees("my drafty", "Tab: choose here").decides("Tab", "y").sees("Hello.")
    assert terminal.composer() == "my drafty"


def test_people_who_type_blindly_decide_nothing(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script({**TOUCH, "delay": 1}, *[TOUCH] * 9)).says("go")
    chance = random.Random(21)
    for _ in range(choose(4, 2)):
        for word in ["and", "look", "at", "the", "parlour", "of", "the", "grand", "tomb", "a", "day", "as", "y"]:
            time.sleep(chance.uniform(0.3, 1.2) if chance.random() < 0.3 else 0)
            for key in f"{word} ":
                terminal.types(key)
                time.sleep(chance.uniform(0.02, 0.15))
        terminal.presses("Enter")
    assert decisions(halo) == []
    assert not (halo.folder / "made").exists()


def test_a_question_is_answered_by_a_digit_and_in_words_and_an_empty_answer_asks_again(
    halo: Halo, open_terminal: Open
) -> None:
    options = {"call": [call("ask_followup_question", question="Which?", options=["tabs", "spaces"])]}
    words = {"call": [call("ask_followup_question", question="Which name?")], "expect": "spaces"}
    terminal = open_terminal().starts("-m", halo.script(options, words, {**HI, "expect": "Ada"})).says("go")
    terminal.sees("2   spaces").decides("2").sees("Which name?", "Type an answer").presses("Enter")
    terminal.sees("Type an answer").says("Ada").sees("Hello.")


def test_a_pasted_answer_is_sent_in_full_and_recalled_and_a_number_that_is_no_option_stops_nothing(
    halo: Halo, open_terminal: Open
) -> None:
    asked = {"call": [call("ask_followup_question", question="Which?", options=["tabs", "spaces"])]}
    again = {"call": [call("ask_followup_question", question="How many?", options=["one", "two"])], "expect": "row 11"}
    terminal = open_terminal(80, 40).starts("-m", halo.script(asked, again, {**HI, "expect": "11"})).says("go")
    terminal.sees("or type your answer").pastes("".join(f"row {number}\n" for number in range(12)))
    terminal.sees("[pasted 12 lines]").presses("Enter").sees("How many?", "or type your answer")
    terminal.says("11").sees("Hello.", HINT).presses("Up", "Up").sees("row 11")


PLANNED = {"call": [call("plan_mode_respond", response="Add it, then test it.")]}
MODES = [("Enter", Mode.PLAN, "ask"), ("y", Mode.ACT, "ask"), ("e", Mode.ACT, "accept-edits"), ("a", Mode.ACT, "auto")]


@pytest.mark.parametrize(("key", "mode", "approvals"), MODES)
def test_a_plan_is_approved_with_the_mode_to_go_on_in_or_left(
    halo: Halo, open_terminal: Open, key: str, mode: Mode, approvals: str
) -> None:
    terminal = open_terminal().starts("--mode", "plan", "-m", halo.script(PLANNED, HI)).says("plan it")
    terminal.sees("? Go on with this plan?", "❯ n   Stay in plan mode").decides(key).sees_no("Go on with")
    if mode is Mode.ACT:
        terminal.sees("The plan is approved.", "Hello.", HINT)
    state = halo.state()
    assert (state.plan.mode, state.permissions.approval_mode) == (mode, approvals)


def test_a_prompt_typed_below_a_plan_changes_it_and_a_slash_command_asks_again(halo: Halo, open_terminal: Open) -> None:
    model = halo.script(PLANNED, {**PLANNED, "expect": "shorter"})
    terminal = open_terminal().starts("--mode", "plan", "-m", model).says("plan it").sees("Go on with")
    terminal.says("/cost").sees("For each step:", "Go on with").says("shorter").saw("❯ shorter").sees("Go on with")
    assert halo.state().plan.mode is Mode.PLAN


def test_a_plan_that_waits_is_asked_about_after_a_resume(halo: Halo, open_terminal: Open) -> None:
    model = ("-m", halo.script(PLANNED, HI))
    terminal = open_terminal().starts("--mode", "plan", *model).says("plan it").sees("Go on with")
    terminal.presses("C-d").sees("halo -r").runs(f"{shlex.join(HALO)} -c {shlex.join(model)}")
    terminal.sees("? Go on with").decides("y").sees("Hello.")


WRITE = {"call": [call("write_to_file", path="a.py", content="def f():\n    return 1\n")]}
EDIT = {"call": [call("replace_in_file", path="a.py", old_text="return 1", new_text="return 2")]}
CODE = {"text": "Run it:\n\n```sh\npython a.py\n```\n"}


def undoes(halo: Halo, open_terminal: Open) -> TmuxTerminal:
    (halo.folder / "a.py").write_text("old\n")
    turn = {"call": [call("read_file", path="a.py"), *WRITE["call"]]}
    terminal = open_terminal().starts("-y", "-m", halo.script(turn, HI)).says("go").sees("Hello.", "done")
    return terminal.says("/undo").sees("? Restore the files?", "y   Restore the files", "❯ n   Keep them")


@pytest.mark.parametrize(("answer", "text"), [("yes", "old\n"), ("Y", "old\n"), ("no", None), ("2", None)])
def test_a_question_of_our_own_takes_a_typed_word(
    halo: Halo, open_terminal: Open, answer: str, text: str | None
) -> None:
    undoes(halo, open_terminal).says(answer).sees(
        *(["→ Restore", "To undo:"] if text else ["→ Keep", "Nothing was changed."])
    )
    assert (halo.folder / "a.py").read_text() == (text or "def f():\n    return 1\n")
    assert prompts(halo) == ["go"]


@pytest.mark.parametrize("key", ["Enter", "C-s"])
def test_what_is_no_answer_to_a_question_of_our_own_is_not_sent(halo: Halo, open_terminal: Open, key: str) -> None:
    terminal = undoes(halo, open_terminal).types("yes please").presses(key).sees("Not sent: a question waits.")
    assert terminal.composer() == "yes please"
    terminal.presses("Escape").sees("Nothing was changed.")
    assert prompts(halo) == ["go"]


@pytest.mark.parametrize("size", [(120, 40), (50, 20)])
def test_the_status_fits_on_one_screen(halo: Halo, open_terminal: Open, size: tuple[int, int]) -> None:
    (halo.folder / "AGENTS.md").write_text("Be kind.\n")
    terminal = open_terminal(*size).starts("-m", halo.script(HI)).says("go").sees("Hello.", "done").says("/status")
    terminal.sees(
        "Halocline", "Folder     ~/project", "Mode       act", "Approvals  ask", "Rules      AGENTS.md", "Cost"
    )


def test_what_changed_is_shown_for_the_task_and_for_the_last_turn(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-y", "-m", halo.script(WRITE, HI, EDIT, CODE)).says("go").sees("Hello.", "done")
    terminal.says("/diff").sees("1 file changed since this task began: +2 −0", "2 +     return 1")
    terminal.says("change it").sees("Run it:", HINT).says("/diff last")
    terminal.sees("1 file changed in the last turn: +1 −1", "2 -     return 1", "2 +     return 2")


@pytest.mark.parametrize(("theme", "colors"), [("plain", False), ("color-blind", True)])
def test_a_theme_changes_the_colors_at_once_and_for_later_sessions(
    halo: Halo, open_terminal: Open, theme: str, colors: bool
) -> None:
    (halo.folder / "a.txt").write_text("one\n")
    write = {"call": [call("read_file", path="a.txt"), call("write_to_file", path="a.txt", content="two\n")]}
    terminal = open_terminal().starts("-m", halo.script(write, HI), "--approval-mode", "yolo")
    terminal.sees(HINT).says(f"/theme {theme}").sees(f"Theme: {theme}").says("go").saw("Hello.")
    shown = terminal.colored.partition("Theme: ")[2]
    assert bool(re.search(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])m", shown)) is colors
    assert not re.search(r"\x1b\[(?:\d+;)*3[12]m", shown)
    assert f'theme = "{theme}"' in (halo.home / "settings.toml").read_text()


def test_a_theme_of_a_plugin_is_drawn_in_rows_and_below_them(halo: Halo, open_terminal: Open) -> None:
    place = halo.folder / ".halocline/plugins/paint"
    (place / "themes").mkdir(parents=True)
    (place / "plugin.toml").write_text('name = "paint"\n')
    styles = TERMINAL.styles | {"accent": "bright_magenta", "quiet": "#5f87ff", "prompt": "#00ff87"}
    (place / "themes/sea.toml").write_text("".join(f'{role} = "{style}"\n' for role, style in styles.items()))
    (place / "themes/odd.toml").write_text("accent = 7")
    terminal = open_terminal().starts("-m", halo.script(HI), "--trust").sees(HINT)
    terminal.says("/theme pink").sees("There is no theme 'pink'", "paint:sea.")
    assert "paint:odd" not in terminal.everything
    terminal.says("/theme").sees("paint:odd", "cannot be used: it has no quiet").presses("Enter")
    terminal.sees("The theme is terminal.", "The theme paint:odd cannot be used: it has no quiet")
    terminal.says("/theme paint:sea").sees("Theme: paint:sea, here").types("walk").sees("walk")
    assert re.search(r"\x1b\[(?:\d+;)*95m❯.*\x1b\[(?:\d+;)*38;5;48m(?:\x1b\[49m)?walk", terminal.colored)
    terminal.presses("C-c").says("go").saw("Hello.")
    shown = terminal.colored.partition("Theme: ")[2]
    assert re.search(r"\x1b\[(?:\d+;)*95m❯", shown)
    assert "\x1b[36m" not in shown
    assert 'theme = "paint:sea"' in (halo.home / "settings.toml").read_text()


def test_where_the_chosen_theme_is_gone_a_line_says_what_is_shown_and_how_to_choose(
    halo: Halo, open_terminal: Open
) -> None:
    halo.home.mkdir(exist_ok=True)
    (halo.home / "settings.toml").write_text('[terminal]\ntheme = "paint:sea"\n')
    terminal = open_terminal().starts("-m", halo.script(HI)).sees(HINT)
    terminal.sees("The theme paint:sea cannot be used, so the built-in terminal is shown.")
    terminal.says("/theme").sees("in use · the 16 colors of your").presses("Enter")
    terminal.sees("The theme is terminal, as paint:sea cannot be used.", "To change it: /theme with one")


def test_the_last_code_block_is_copied_through_the_terminal(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().takes_clipboard().starts("-m", halo.script(CODE)).says("/copy").sees("no reply to copy")
    terminal.says("go").sees("Run it:", "done").says("/copy code").sees("last code block (1 line, 11 characters)")
    assert terminal.clipboard == "python a.py"
    terminal.says("/copy").sees("last reply (5 lines")
    assert terminal.clipboard == "Run it:\n\n```sh\npython a.py\n```"


LINES = "".join(f"line {number}\n" for number in range(1, 31))
THREE = LINES.replace("line 3\n", "three\n").replace("line 15\n", "fifteen\n").replace("line 28\n", "")
CHANGE = {"call": [call("read_file", path="a.txt"), call("write_to_file", path="a.txt", content=THREE)]}


def write_editor(halo: Halo, command: str) -> None:
    editor = halo.root / "editor"
    editor.write_text(f"#!/bin/sh\n{command}\n")
    editor.chmod(0o755)
    halo.env["EDITOR"] = str(editor)


def test_only_the_chosen_changes_of_an_edit_are_made_and_the_model_is_told(halo: Halo, open_terminal: Open) -> None:
    (halo.folder / "a.txt").write_text(LINES)
    model = halo.script(CHANGE, {**HI, "expect": "Rejected in a.txt, line 15"})
    terminal = open_terminal(100, 50).starts("-m", model).says("go").sees("choose among its 3 changes").decides("h")
    terminal.sees("[x] a.txt, line 15 (+1 −1)  + fifteen", "allow 3 of 3 changes").decides("2")
    terminal.sees("❯ 2   [ ] a.txt, line 15", "allow 2 of 3 changes").decides("y")
    terminal.sees("± Write a.txt  +1 −2  edited by you", "Hello.")
    assert (halo.folder / "a.txt").read_text() == THREE.replace("fifteen\n", "line 15\n")


def test_an_edit_without_any_of_its_changes_is_rejected(halo: Halo, open_terminal: Open) -> None:
    (halo.folder / "a.txt").write_text(LINES)
    terminal = open_terminal(100, 50).starts("-m", halo.script(CHANGE, HI)).says("go").sees(OPTIONS).decides("h")
    terminal.sees("Which changes?").decides("1", "2", "3").sees("reject all changes").decides("y").sees("Hello.")
    assert (halo.folder / "a.txt").read_text() == LINES


def test_an_edit_is_rewritten_in_an_editor_and_shown_before_it_is_made(halo: Halo, open_terminal: Open) -> None:
    (halo.folder / "a.txt").write_text(LINES)
    write_editor(halo, 'sed -i s/fifteen/XV/ "$1"')
    terminal = open_terminal(100, 60).starts("-m", halo.script(CHANGE, HI)).says("go").types("my draft").sees(OPTIONS)
    terminal.decides("Tab", "e").sees("With your changes:", "15 + XV", "? Make this edit?").decides("Tab", "y")
    terminal.sees("edited by you", "Hello.")
    assert (halo.folder / "a.txt").read_text() == THREE.replace("fifteen", "XV")
    assert terminal.composer() == "my draft"


@pytest.mark.parametrize(
    ("command", "said"), [("true", "You changed nothing"), ("rm $1", "Cannot read what the editor")]
)
def test_an_editor_that_changes_nothing_leaves_the_decision_open(
    halo: Halo, open_terminal: Open, command: str, said: str
) -> None:
    write_editor(halo, command)
    terminal = open_terminal().starts("-m", halo.script(WRITE, HI)).says("go").sees(OPTIONS).decides("e")
    terminal.sees(said, OPTIONS).decides("y").sees("Hello.")
    assert (halo.folder / "a.py").exists()


def test_an_edit_is_not_made_in_part_if_its_file_changed_meanwhile(halo: Halo, open_terminal: Open) -> None:
    (halo.folder / "a.txt").write_text(LINES)
    terminal = open_terminal(100, 50).starts("-m", halo.script(CHANGE, HI)).says("go").sees(OPTIONS).decides("h")
    terminal.sees("Which changes?").decides("1")
    (halo.folder / "a.txt").write_text(f"{LINES}mine\n")
    terminal.decides("y").sees("The file changed since this edit was shown.", OPTIONS)
    assert (halo.folder / "a.txt").read_text() == f"{LINES}mine\n"


@pytest.mark.parametrize("word", ["exit", "quit", ":q", "exit 3"])
def test_words_that_leave_shells_and_editors_leave(halo: Halo, open_terminal: Open, word: str) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).says("go").sees("Hello.", "done").says(word)
    terminal.sees("halo -r")
    assert prompts(halo) == ["go"]


def test_ctrl_z_and_fg_draw_the_screen_once(halo: Halo, open_terminal: Open) -> None:
    slow = {"call": [shell("sleep 30")]}
    terminal = open_terminal().starts("-y", "-m", halo.script(slow, HI)).says("go").sees("running sleep")
    terminal.says("and then").sees("❯ and then · queued").presses("C-z").sees("Stopped", "sh>").runs("fg")
    terminal.sees("❯ and then · queued", "Enter queues")
    time.sleep(1)
    after = terminal.everything.rpartition("sh> fg")[2]
    assert [line.strip() for line in after.splitlines() if line.startswith("❯")] == [
        "❯ and then · queued",
        "❯ Enter queues · Ctrl-S sends now · Esc stops",
    ]
    terminal.presses("Escape")


def test_ctrl_z_at_a_card_and_fg_go_on(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(TOUCH, HI)).says("go").sees(OPTIONS).presses("C-z")
    terminal.sees("Stopped")
    modes = terminal.modes()
    assert re.search(r" icanon", modes)
    assert re.search(r" echo ", modes)
    terminal.runs("fg").sees(OPTIONS).decides("y").sees("Hello.")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_terminal_is_as_it_was_after_a_signal(halo: Halo, open_terminal: Open, number: signal.Signals) -> None:
    terminal = open_terminal()
    before = terminal.modes()
    terminal.starts("-m", halo.script(SLOW)).says("go").sees("First paragraph.")
    found = subprocess.run(["pgrep", "-o", "-f", str(halo.root / "script.toml")], capture_output=True, check=True)
    os.kill(int(found.stdout), number)
    if number is signal.SIGKILL:
        terminal.sees("Killed").runs("stty sane")
    terminal.runs("").sees("sh> ")
    time.sleep(0.5)
    if number is not signal.SIGKILL:
        assert terminal.modes() == before


@pytest.mark.parametrize("seen", [ENABLE, HINT, TITLE])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_was_turned_on_in_the_terminal_is_turned_off_by_a_signal_at_any_time(
    halo: Halo, number: signal.Signals, seen: str
) -> None:
    env = {**halo.env, "TERM": "xterm-kitty"}
    person = HaloTerminal(["-m", halo.script(SLOW)], env=env, cwd=halo.folder, size=(24, 80))
    person.logfile_read = written = io.StringIO()
    person.expect_exact(seen)
    person.kill(number)
    person.expect(pexpect.EOF)
    for turned_on, turned_off in ((ENABLE, DISABLE), (TITLE, UNTITLE)):
        assert written.getvalue().count(turned_on) == written.getvalue().count(turned_off)


def test_ctrl_c_quits_when_pressed_twice_and_says_how_to_come_back(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).says("go").sees("Hello.", HINT).presses("C-c")
    terminal.sees("Press Ctrl-C again to exit").presses("C-c").sees(f"halo -r {halo.tasks[0]}").sees_no(HINT)


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_a_card_can_be_decided_in_every_window(halo: Halo, open_terminal: Open, columns: int, rows: int) -> None:
    terminal = open_terminal(columns, rows).runs(f"{sys.executable} -m halocline -m {halo.script(TOUCH, HI)}")
    terminal.sees("❯").says("go").sees("allow once").decides("y", "y").sees("Hello.")


def test_resizes_leave_no_copies_behind(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal(120, 40).starts("-m", halo.script(SLOW, HI)).says("go").sees("First paragraph.")
    for columns, rows in [(80, 24), (50, 20), (90, 30), (60, 12), (120, 40)]:
        time.sleep(0.4)
        terminal.resizes(columns, rows)
    terminal.saw("done")
    time.sleep(0.3)
    terminal.sees("script.toml · act · ask")
    assert terminal.everything.count("script.toml · act · ask") == 1
    assert "writing" not in terminal.everything


def test_a_card_that_was_higher_than_the_window_stands_there_once_in_a_larger_one(
    halo: Halo, open_terminal: Open
) -> None:
    command = "python3 -m pip install --upgrade requests httpx && touch made"
    model = halo.script({"text": "Some words.", "call": [call("execute_command", command=command)]}, HI)
    terminal = open_terminal(100, 40).starts("-m", model).says("go").sees("reject and stop")
    for columns, rows in [(40, 12), (120, 40), (40, 12), (60, 30)]:
        time.sleep(1)
        terminal.resizes(columns, rows)
    time.sleep(1)
    assert [terminal.everything.count(text) for text in ("y   allow once", "esc reject and stop", "Some words")] == [
        1, 1, 1
    ]  # fmt: skip


def test_code_is_seen_line_by_line_while_it_is_written(halo: Halo, open_terminal: Open) -> None:
    code = "```python\n" + "".join(f"value_{n} = {n}\n" for n in range(200)) + "```\n"
    terminal = open_terminal().starts("-m", halo.script({"text": code, "pace": 0.03, "chunk": 24})).says("go")
    terminal.sees("value_20 = 20", "writing").presses("Escape").sees("interrupted")
    shown = re.findall(r"value_(\d+) = \d+", terminal.everything)
    assert [int(number) for number in shown] == list(range(len(shown)))


STEPS = [
    ("plan mode · ask", "plan mode: reads and plans", "Shift-Tab: accept-edits"),
    ("act · accept-edits", "accept-edits: edits files in the folder without asking", "Shift-Tab: auto"),
    ("act · auto", "auto: works in the folder without asking", "Shift-Tab: ask"),
    ("act · ask", "ask: asks before edits and commands", "Shift-Tab: plan mode"),
]


def test_shift_tab_goes_where_the_hint_says_and_says_what_the_mode_allows(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).sees("Shift-Tab: plan mode")
    for bar, meaning, hint in STEPS:
        terminal.presses("BTab").sees(bar, meaning, hint)
    terminal.presses("BTab").sees("plan mode · ask").says("go").sees("Hello.")
    assert "Mode:" not in terminal.everything
    assert (halo.state().plan.mode, halo.state().permissions.approval_mode) == (Mode.PLAN, ApprovalMode.ASK)


def test_ctrl_o_prints_in_full_what_was_shortened(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal(80, 60).starts("-y", "-m", halo.script({"call": [shell("seq 101 140")]}, HI)).says("go")
    terminal.sees("earlier lines", "Hello.").sees_no("│ 101").presses("C-o").sees("│ 101", "│ 120")


def test_escape_twice_goes_back_to_an_earlier_prompt(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI, {"text": "Second."})).says("first").sees("Hello.", HINT)
    terminal.presses("Escape")
    time.sleep(0.2)
    terminal.presses("Escape").sees("before which prompt?", "first").decides("1").sees("Restore what?").decides("1")
    terminal.sees("→ Only the conversation", "Went back to before “first”.", "Rewound to ")
    assert terminal.composer() == "first"


def test_going_back_shows_what_it_would_do_to_files_and_then_what_it_did(halo: Halo, open_terminal: Open) -> None:
    (halo.folder / ".gitignore").write_text("large.bin\n")
    (halo.folder / "large.bin").write_bytes(os.urandom(300_000))
    turns = ({"call": [call("write_to_file", path="a.txt", content="a\n"), shell("rm large.bin")]}, HI)
    terminal = open_terminal(100, 50).starts("-y", "-m", halo.script(*turns)).says("write it").sees("Hello.", HINT)
    terminal.says("/rewind").sees("before which prompt?").decides("1").sees("Restore what?")
    terminal.saw("1 file to change, 1 that cannot be restored.", "delete  a.txt", "cannot restore: large.bin, because")
    terminal.saw("$ rm large.bin").decides("1").sees("Went back to before “write it”.", "Restored 1 file.")
    terminal.sees("Could not restore 1 file:", "cannot restore: large.bin, because", "To undo: /checkpoint restore ")
    assert not (halo.folder / "a.txt").exists()


def test_all_earlier_prompts_can_be_gone_back_to_and_those_gone_back_from_are_marked(
    halo: Halo, open_terminal: Open
) -> None:
    terminal = open_terminal(80, 40).starts("-m", halo.script(*[HI] * 10))
    for number in range(10):
        terminal.says(f"prompt {number}").saw(f"❯ prompt {number}").sees(HINT)
    terminal.says("/rewind").sees("prompt 9", "prompt 2", "9   Older prompts").decides("9").sees("prompt 1")
    terminal.decides("1").sees("Restore what?").says("only the conversation").sees("“prompt 1”")
    terminal.presses("C-c").sees(HINT).says("/rewind prompt 9").sees("prompt 9 · rewound").presses("Escape")
    terminal.sees("Nothing was changed.").says("/rewind nowhere").sees("No earlier prompt has 'nowhere' in it.")
    assert halo.state().messages[-1].content[0].text == "Hello."  # type: ignore[union-attr]


def test_a_backslash_before_enter_and_an_editor_make_more_lines(halo: Halo, open_terminal: Open) -> None:
    editor = halo.root / "editor"
    editor.write_text('#!/bin/sh\nprintf "\\nthird\\n" >> "$1"\n')
    editor.chmod(0o755)
    halo.env["EDITOR"] = str(editor)
    terminal = open_terminal().starts("-m", halo.script(HI)).types("first\\").presses("Enter").types("second")
    terminal.presses("C-g").sees("third").presses("Enter").sees("Hello.")
    assert prompts(halo) == ["first\nsecond\nthird"]


def test_enter_takes_the_first_line_of_the_command_menu_and_the_command_is_printed(
    halo: Halo, open_terminal: Open
) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).types("/skil").sees("/skills").presses("Enter")
    terminal.saw("❯ /skills", "skills")


def test_enter_inserts_a_command_that_the_menu_only_guessed(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).says("go").sees("Hello.", HINT).types("/cl")
    terminal.sees("/clear").presses("Enter").sees("❯ /clear").sees("Hello.")


def test_ctrl_d_in_a_turn_quits_when_pressed_twice(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW)).says("go").sees("First paragraph.").presses("C-d")
    terminal.sees("Press Ctrl-D again to exit").presses("C-d").sees(f"halo -r {halo.tasks[0]}")


def test_a_note_that_cannot_be_saved_is_typed_again(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).says("# the tests need a database")
    terminal.saw("Memory is off").presses("C-a", "Delete", "Delete", "Enter").sees(
        "❯ the tests need a database", "Hello."
    )


def test_a_command_is_answered_while_a_turn_runs(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW)).says("go").sees("First paragraph.").types("/jobs")
    time.sleep(0.5)
    terminal.presses("Enter").saw("❯ /jobs", "No jobs")


def test_another_task_that_waits_is_counted(halo: Halo, open_terminal: Open) -> None:
    open_terminal().starts("-m", halo.script(TOUCH, HI)).says("go").sees(OPTIONS)
    open_terminal(120).starts("-m", halo.script(HI)).sees("1 task waiting")


def test_the_keys_are_shown_and_hidden(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal(100, 40).starts("-m", halo.script(HI)).types("?").sees("Ctrl-O", "Esc Esc")
    terminal.presses("Escape").sees_no("Ctrl-O")


@pytest.mark.parametrize("key", ["Enter", "C-c", "C-s"])
def test_the_line_of_mentions_goes_with_the_text(halo: Halo, open_terminal: Open, key: str) -> None:
    (halo.folder / "t.txt").write_text("x\n" * 99)
    terminal = open_terminal().starts("-m", halo.script(SLOW, HI)).types("see @t.txt it").sees("t.txt ~")
    terminal.presses(key).sees_no("t.txt ~").sees(HINT if key == "C-c" else "First paragraph.")
    assert "t.txt ~" not in terminal.screen


def test_a_running_command_shows_its_newest_lines_its_time_and_the_keys(halo: Halo, open_terminal: Open) -> None:
    command = (
        "for i in 1 2 3 4 5 6; do echo line $i; done; printf '10%%\\r50%%\\r'; echo; sleep 6; echo and so much more"
    )
    terminal = open_terminal(80).starts("-y", "-m", halo.script({"call": [shell(command)]}, HI)).says("go")
    terminal.sees("│ line 4", "│ line 6", "│ 50%", "Esc stops").sees_no("│ line 3", "10%")
    terminal.sees("… · 5 s · Esc stops · Ctrl-B runs it in the background").saw("Hello.")


def test_a_search_shows_no_hint_behind_what_it_found(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(HI)).says("find me").sees("Hello.", HINT).presses("C-r")
    terminal.types("find").sees("Search prompts: find", "❯ find me").sees_no(HINT)


def test_plain_lines_are_there_on_demand_and_for_dumb_terminals(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal()
    for before, flag in (("", "--plain"), ("TERM=dumb ", "")):
        terminal.runs(f"clear; {before}{sys.executable} -m halocline {flag} -m {halo.script(HI)}")
        terminal.sees("❯").sees_no("Shift-Tab")
        time.sleep(1.5)  # a dumb terminal shows the mark before it reads keys
        terminal.presses("C-d").sees("sh>")


def test_a_message_goes_along_with_a_decision(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal(80, 40).starts("-m", halo.script(TOUCH, {**HI, "expect": "be quick"})).says("go")
    terminal.sees(OPTIONS).decides("t").sees("Your message to the model").says("be quick")
    terminal.sees("allow once and send your message").decides("y").sees("Hello.")
    assert (halo.folder / "made").exists()


def test_a_command_is_edited_before_it_runs(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal(80, 40).starts("-m", halo.script(TOUCH, HI)).says("go").sees(OPTIONS).decides("e")
    terminal.sees("› touch made").types("-otherwise").presses("Enter").sees("Hello.")
    assert (halo.folder / "made-otherwise").exists()


def test_a_long_edit_names_its_file_beside_the_keys(halo: Halo, open_terminal: Open) -> None:
    text = "".join(f"line {number}\n" for number in range(60))
    model = halo.script({"call": [call("write_to_file", path="big.txt", content=text)]}, HI)
    terminal = open_terminal().starts("-m", model).says("go").sees("? Write big.txt", OPTIONS, "show the full diff")
    terminal.decides("y").sees_no("show the full diff").sees("60 + line 59", "? Write big.txt").decides("y")
    terminal.sees("Hello.")


def test_what_was_typed_before_the_screen_counts_with_its_enter(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal()
    terminal.runs(f"sleep 0.5; {sys.executable} -m halocline -m {halo.script(HI)}")
    terminal.says("typed early").sees("act · ask", "❯ typed early", "Hello.")
    assert prompts(halo) == ["typed early"]
    assert terminal.screen.count("typed early") == 2  # what the shell echoed, and the prompt


CRASH = """
import asyncio
from halocline.surfaces.cli.live.live_mode import LiveMode

async def crash():
    async with LiveMode():
        await asyncio.sleep(0.5)
        raise RuntimeError("as planned")

asyncio.run(crash())
"""


def test_the_terminal_is_as_it_was_after_a_crash(halo: Halo, open_terminal: Open) -> None:
    (halo.root / "crash.py").write_text(CRASH)
    terminal = open_terminal()
    before = terminal.modes()
    terminal.runs(f"{sys.executable} {halo.root / 'crash.py'}")
    terminal.sees("starting …").sees("RuntimeError: as planned").sees_no("starting …")
    assert terminal.modes() == before


def test_quit_ends_the_turn_that_runs(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW)).says("go").sees("First paragraph.").types("/quit")
    time.sleep(0.5)
    terminal.presses("Enter").sees("interrupted", "halo -r")


def test_a_command_of_the_person_runs_beside_the_turn(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW)).says("go").sees("First paragraph.")
    terminal.says("!touch mine").saw("touch mine  you")
    assert (halo.folder / "mine").exists()


def test_a_note_and_an_empty_command_are_answered_where_they_were_typed(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().starts("-m", halo.script(SLOW)).says("# the tests need a database")
    terminal.saw("❯ # the tests need a database", "Memory is off").presses("C-u").says("go").sees(
        "First paragraph."
    ).says("!")
    terminal.saw("There is no command")


def test_on_a_cleared_window_nothing_is_printed_twice(halo: Halo, open_terminal: Open) -> None:
    terminal = open_terminal().runs("clear").runs(f"clear; {sys.executable} -m halocline -m {halo.script(HI, HI)}")
    for prompt in ("first prompt", "second prompt"):
        terminal.sees(HINT).says(prompt).sees("Hello.", prompt)
    terminal.sees(HINT).says("/theme color-blind").sees("Theme: color-blind")
    terminal.presses("C-c").sees("Press Ctrl-C").presses("C-c").sees("halo -r")
    shown = terminal.everything
    assert [shown.count(text) for text in ("❯ first prompt", "❯ second prompt", HINT, "act · ask")] == [1, 1, 0, 0]


def test_no_row_is_lost_or_doubled_while_the_size_changes_again_and_again(halo: Halo, open_terminal: Open) -> None:
    text = "".join(f"Paragraph {number} has some words of its own.\n\n" for number in range(40))
    terminal = open_terminal(80, 24).starts("-m", halo.script({"text": text, "pace": 0.01})).says("go").sees("writing")
    for columns, rows in [(100, 24), (40, 30), (30, 15), (120, 40), (50, 20), (200, 60), (80, 24)]:
        terminal.resizes(columns, rows)
        time.sleep(0.12)
    terminal.saw("✓ done")
    found = re.findall(r"Paragraph (\d+) has", terminal.everything)
    assert found == [str(number) for number in range(40)]
