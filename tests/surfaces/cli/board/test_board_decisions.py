"""Deciding from the list: the card of the selected task, in a real terminal (tmux), for tasks of other processes."""

import signal

import pytest
from tests.surfaces.cli.board.conftest import BOARD, Begin
from tests.surfaces.cli.board.test_board import settle
from tests.surfaces.cli.halo_process import HALO, Halo, call, shell
from tests.surfaces.cli.live.tmux_terminal import TmuxTerminal

from halocline.protocol import events as ev

pytestmark = [pytest.mark.slow, pytest.mark.process]

RISKY = {"call": [shell("echo made > made", risky=True)]}
GRAVE = {"call": [shell("rm -rf /srv/old", risky=True)]}
LONG = {"call": [call("write_to_file", path="long.txt", content="".join(f"line {at}\n" for at in range(1, 36)))]}
ASKS = {"call": [call("ask_followup_question", question="Which color?", options=["red", "blue"])]}
OPEN = {"call": [call("ask_followup_question", question="Which name?")]}
RUNS = {"text": "word " * 4000, "pace": 0.05}
DONE = {"text": "It is done."}


def background(halo: Halo, *turns: dict, name: str, words: str = "") -> str:
    """The shell command that starts a task in the background and keeps its ID in a variable of that name."""
    return f'{name}=$({" ".join(HALO)} run --bg {words} -m {halo.script(*turns, name=name)} "the {name} one")'


def test_a_call_is_allowed_by_its_key_and_its_task_stays_closed(
    halo: Halo, begin: Begin, terminal: TmuxTerminal
) -> None:
    begin(RISKY, DONE, name="asking")
    terminal.runs(BOARD).sees("needs you (1)", "echo made > made", "y   allow once", "its key decides")
    terminal.decides("y").sees("ended (1)", "All tasks").sees_no("allow once")
    assert (halo.folder / "made").read_text() == "made\n"
    (decided,) = (event for event in halo.log() if isinstance(event, ev.ApprovalResolved))
    assert decided.client.startswith("cli ")


def test_a_reason_and_an_answer_are_typed_and_sent_by_enter(halo: Halo, begin: Begin, terminal: TmuxTerminal) -> None:
    begin(RISKY, DONE, name="asking")
    terminal.runs(BOARD).sees("allow once").decides("n").sees("Reason (optional):")
    terminal.says("not quickly").sees("ended (1)")
    (decided,) = (event for event in halo.log() if isinstance(event, ev.ApprovalResolved))
    assert decided.note == "not quickly"


def test_questions_take_a_number_or_text(halo: Halo, begin: Begin, terminal: TmuxTerminal) -> None:
    begin(ASKS, OPEN, DONE, name="asking")
    terminal.runs(BOARD).sees("asks: Which color?", "2   blue")
    assert terminal.screen.count("blue") == 1
    terminal.decides("2").sees("asks: Which name?")
    terminal.decides("t").sees("Enter takes it").says("Ada").sees("ended (1)")
    assert [event.answer for event in halo.log() if isinstance(event, ev.QuestionAnswered)] == ["blue", "Ada"]


def test_typing_and_enter_decide_nothing(halo: Halo, begin: Begin, terminal: TmuxTerminal) -> None:
    begin(GRAVE, DONE, name="asking")
    terminal.runs(BOARD).sees("allow once", "its key decides").types("yay").sees("…").sees("its key decides")
    assert not any(isinstance(event, ev.ApprovalResolved) for event in halo.log())
    terminal.presses("Enter").sees("← board", "allow once").presses("Enter").sees("allow once")
    assert not any(isinstance(event, ev.ApprovalResolved) for event in halo.log())


def test_nothing_is_allowed_before_all_of_it_was_shown(halo: Halo, begin: Begin, terminal: TmuxTerminal) -> None:
    begin(LONG, DONE, name="asking")
    terminal.runs(BOARD).sees("before it can be allowed").decides("y").sees_no("+ line 1\n").sees("allow once")
    while "line 35" not in terminal.screen:
        settle(terminal.presses("Space"))
    assert not (halo.folder / "long.txt").exists()
    terminal.decides("y").sees("ended (1)")
    assert (halo.folder / "long.txt").exists()


def test_a_filter_shows_only_the_tasks_that_fit_until_escape(halo: Halo, begin: Begin, terminal: TmuxTerminal) -> None:
    begin(RISKY, DONE, name="asking")
    begin(RUNS, name="walking")
    terminal.runs(BOARD).sees("asking", "walking").presses("/").sees("Filter:").types("WALK")
    terminal.sees("filter: WALK").sees_no("tell me of asking", "allow once").presses("Enter").sees("q leave")
    terminal.presses("Escape").sees("tell me of asking", "tell me of walking")


def test_only_the_tasks_of_this_folder_are_listed_where_asked(halo: Halo, begin: Begin, terminal: TmuxTerminal) -> None:
    begin(RUNS, name="walking")
    terminal.runs(f"cd {halo.root}; {' '.join(HALO)} board --here; echo code $?")
    terminal.sees("no tasks yet").presses("q").sees("code 0")
    terminal.runs(f"cd {halo.folder}; {' '.join(HALO)} board --here").sees("tell me of walking")


def test_after_a_kill_every_task_is_listed_as_cut_short_and_a_key_resumes_it(
    halo: Halo, begin: Begin, terminal: TmuxTerminal
) -> None:
    own = begin(RUNS, DONE, name="walking")
    terminal.runs(background(halo, RUNS, DONE, name="running")).sees("Watch:")
    terminal.runs(background(halo, DONE, name="waiting", words="--after $running")).sees("waits for")
    terminal.runs(BOARD).sees("running (3)")
    pid = int((halo.home / "background" / "lock").read_text().split()[0])
    own.kill(signal.SIGKILL)
    terminal._tmux("run-shell", f"kill -9 {pid}")
    terminal.sees("cut short (3)", "cut short: waits for")
    terminal.types("r").sees("continues in the background")


def test_a_task_before_which_another_was_stopped_is_started_by_a_key(halo: Halo, terminal: TmuxTerminal) -> None:
    terminal.runs(background(halo, RUNS, name="running")).sees("Watch:")
    terminal.runs(background(halo, DONE, name="waiting", words="--after $running")).sees("waits for")
    terminal.runs(BOARD).sees("running (2)", "waits for").presses("/").sees("Filter:").says("running other")
    terminal.sees("no task fits").presses("Escape").presses("End")
    terminal.sees("the running one").presses("x").sees("Press x again to stop").presses("x")
    terminal.sees("needs you (1)", "was stopped.").presses("Tab").sees("start it all the same").decides("y")
    terminal.sees("ended (2)")
