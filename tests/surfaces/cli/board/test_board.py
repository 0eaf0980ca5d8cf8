"""The board in a real terminal (tmux), with tasks of other processes."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.surfaces.cli.board.conftest import BOARD, Begin
from tests.surfaces.cli.halo_process import HALO, Halo, call, shell
from tests.surfaces.cli.live.conftest import Open
from tests.surfaces.cli.live.tmux_terminal import PROMPT, TmuxTerminal

from halocline.protocol import codec, events as ev
from halocline.protocol.messages import StopReason
from halocline.surfaces.board.tasks import LOOK_EVERY

pytestmark = [pytest.mark.slow, pytest.mark.process]

RISKY = {"call": [shell("echo made > made", risky=True)]}
RUNS = {"text": "word " * 4000, "pace": 0.05}
DONE = {"text": "Done."}
GOLDEN = Path(__file__).parents[3] / "golden" / "format-1"
SNAPSHOTS = Path(__file__).parent / "snapshots"
AT = re.compile(rb'(?<="at":)\d+\.\d+')
LONG_AGO = 30.5 * 86400
"""Seconds by which the golden tasks are made older, so that the list shows their dates."""


def end_board(terminal: TmuxTerminal, number: int) -> None:
    """Send a signal to the board below this terminal's shell."""
    shell_pid = terminal._tmux("list-panes", "-t", "t", "-F", "#{pane_pid}").strip()
    rows = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    parents = dict(re.findall(r"^ *(\d+) +(\d+) ", rows, re.MULTILINE))
    for pid in re.findall(r"^ *(\d+) .* -m halocline board$", rows, re.MULTILINE):
        above = pid
        while above in parents and above != shell_pid:
            above = parents[above]
        if above == shell_pid:
            return os.kill(int(pid), number)
    raise AssertionError(rows)


def test_one_task_is_approved_and_another_watched_and_their_transcripts_stay(
    halo: Halo, begin: Begin, terminal: TmuxTerminal
):
    begin(RISKY, {"text": "It is made."}, name="asking")
    begin(RUNS, name="running")
    before = terminal.modes()
    terminal.runs(BOARD).sees("needs you (1)", "running (1)", "approve: echo made > made")
    terminal.presses("Enter").sees("❯ y   allow once", "← board")
    terminal.decides("y").sees("It is made.", "done · 2 steps")
    assert (halo.folder / "made").read_text() == "made\n"
    terminal.presses("Left").sees("running (1)", "ended (1)").presses("Up").presses("Enter").sees(
        "word word word", "← board"
    )
    terminal.presses("Left").sees("ended (1)").presses("q").sees("code 0")
    terminal.saw("It is made.", "tell me of asking", "word word word")
    assert "All tasks" not in terminal.everything
    assert terminal.modes() == before


def test_a_turn_continues_in_the_board_which_asks_before_it_would_end(halo: Halo, terminal: TmuxTerminal):
    terminal.runs(f"{' '.join(HALO)} -p -m {halo.script(DONE, RUNS)} go").sees("Done.")
    terminal.runs(BOARD).sees("ended (1)").presses("Enter").sees("← board").says("on").sees("word word")
    terminal.presses("Left").sees("running (1)").presses("q").sees("1 task of the board would be interrupted")
    terminal.presses("Enter").sees("Esc stops", "← board").presses("Left").sees("running (1)").presses("q").presses("q")
    terminal.sees("code 0")
    *_, end = halo.log()
    assert isinstance(end, ev.TurnEnded)
    assert end.reason is StopReason.CANCELLED


def test_what_waits_without_a_process_is_asked_again(halo: Halo, begin: Begin, terminal: TmuxTerminal):
    asking = begin(RISKY, DONE)
    terminal.runs(BOARD).sees("needs you (1)")
    asking.kill(signal.SIGKILL)
    terminal.sees("no process runs it").presses("Enter").sees("allow once").decides("y").sees("Done.")
    assert (halo.folder / "made").exists()


def is_list(terminal: TmuxTerminal) -> bool:
    """True if the list is shown, once either it or a reply is: the key may have come too early to go back."""
    terminal._waits(lambda: any(text in terminal.screen for text in ("All tasks", "word word")), ("a screen",))
    return "All tasks" in terminal.screen


def test_an_opening_that_takes_long_is_stopped_by_a_key(halo: Halo, begin: Begin, terminal: TmuxTerminal):
    running = begin(RUNS, name="running")
    terminal.runs(BOARD).sees("running (1)")
    running.kill(signal.SIGSTOP)
    terminal.presses("Enter").sees_no("All tasks").presses("C-c").sees("The task was not opened.", "All tasks")
    running.kill(signal.SIGCONT)
    terminal.presses("Enter").sees("word word", "← board")


def test_a_prompt_that_was_just_sent_reaches_its_task(halo: Halo, terminal: TmuxTerminal):
    terminal.runs(f"{' '.join(HALO)} -p -m {halo.script(DONE, RUNS)} go").sees("Done.")
    terminal.runs(BOARD).sees("ended (1)").presses("Enter").sees("← board").types("on")
    terminal.presses("Enter", "Left").sees("●" if is_list(terminal) else "word word")
    assert [event.content[0].text for event in halo.log() if isinstance(event, ev.TurnStarted)] == ["go", "on"]


@pytest.mark.parametrize("key", ["q", "C-c"])
def test_each_key_that_leaves_says_what_would_stop(halo: Halo, terminal: TmuxTerminal, key: str):
    terminal.runs(f"{' '.join(HALO)} -p -m {halo.script(DONE, RUNS)} go").sees("Done.")
    terminal.runs(BOARD).sees("ended (1)").presses("Enter").sees("← board").says("on").sees("word word")
    terminal.presses("Left").sees("running (1)").presses(key).sees("1 task of the board would be interrupted.")
    terminal.presses("Down").sees_no("would be").presses(key).sees("would be").presses(key).sees("code 0")


def test_a_plan_that_waits_keeps_its_task_open(halo: Halo, open_terminal: Open, terminal: TmuxTerminal):
    plan = {"call": [call("plan_mode_respond", response="1. Rename it.")]}
    terminal.runs(f"{' '.join(HALO)} -p -m {halo.script(DONE, plan, DONE)} --mode plan go").sees("Done.")
    terminal.runs(BOARD).sees("ended (1)").presses("Enter").sees("← board").says("on").sees("Go on with this plan?")
    terminal.presses("Left").sees("needs you (1)", "its plan waits for you")
    time.sleep(3 * LOOK_EVERY)
    other = open_terminal(100, 30).runs(f"{' '.join(HALO)} tasks list")
    other.sees("needs you")  # the list and the board ask the same function
    terminal.sees("needs you (1)").presses("Enter").sees("Go on with this plan?")


def test_escape_twice_stops_the_turn_and_stays(halo: Halo, terminal: TmuxTerminal):
    terminal.runs(f"{' '.join(HALO)} -p -m {halo.script(DONE, RUNS)} go").sees("Done.")
    terminal.runs(BOARD).sees("ended (1)").presses("Enter").sees("← board").says("on").sees("word word")
    terminal.presses("Escape", "Escape").sees("interrupted").sees_no("code 130").presses("Left").sees("All tasks")


def test_a_task_that_rests_is_free_for_another_terminal(halo: Halo, open_terminal: Open, terminal: TmuxTerminal):
    terminal.runs(f"{' '.join(HALO)} -p -m {halo.script(DONE)} go").sees("Done.")
    terminal.runs(BOARD).sees("ended (1)").presses("Enter").sees("← board").presses("Left").sees("All tasks")
    time.sleep(3 * LOOK_EVERY)
    open_terminal().runs(f"{' '.join(HALO)} -c").sees("Ask anything")


def test_sub_agents_that_work_are_listed_and_take_messages(halo: Halo, begin: Begin, terminal: TmuxTerminal):
    slow = halo.script({"delay": 8, "call": [call("list_files", path=".")]}, RUNS, name="slow")
    folder = halo.folder / ".halocline" / "agents"
    folder.mkdir(parents=True)
    (folder / "slow.md").write_text(f"---\nname: slow\ndescription: slow\nmodel: {slow}\n---\nLook.\n")
    begin({"call": [call("use_subagents", agents=[{"prompt": "Where?", "agent": "slow", "name": "the slow one"}])]})
    terminal.runs(BOARD).sees("↳ the slow one").presses("Down").presses("Enter").sees("Where?", "← board")
    terminal.types("and the tests").presses("C-s").sees("sent before the next step").sees("word word")
    terminal.presses("Left").sees("↳ the slow one")


def test_a_task_that_cannot_be_opened_says_why_on_the_list(halo: Halo, terminal: TmuxTerminal):
    gone = halo.root / "gone"
    gone.mkdir()
    terminal.runs(f"cd {gone}; {' '.join(HALO)} -p -m {halo.script(DONE)} go; cd; rm -rf {gone}").sees("Done.")
    terminal.runs(BOARD).sees("ended (1)").presses("Enter").sees("does not exist", "All tasks")
    terminal.presses("Down").sees("q leave")


@pytest.mark.parametrize(
    ("how", "code"), [("C-c", 0), (signal.SIGTERM, 130), (signal.SIGINT, 130), ("q", 0), ("Escape", 0)]
)
def test_the_terminal_is_restored_however_the_board_ends(halo: Halo, terminal: TmuxTerminal, how: str | int, code: int):
    before = terminal.modes()
    terminal.runs(BOARD).sees("no tasks yet")
    if how == "C-c":
        terminal.presses("C-c").sees("again").presses("C-c")
    elif isinstance(how, str):
        terminal.presses(how)
    else:
        end_board(terminal, how)
    terminal.sees(f"code {code}")
    assert "All tasks" not in terminal.screen
    assert terminal.modes() == before


def test_a_stopped_board_comes_back(halo: Halo, terminal: TmuxTerminal):
    terminal.runs(BOARD).sees("no tasks yet").presses("C-z").sees(PROMPT.strip(), "Stopped")
    terminal.runs("fg").sees("no tasks yet", "q leave")


@pytest.mark.parametrize("variable", ["TERM=dumb", "TERM="])
def test_a_terminal_that_cannot_show_it_is_told_what_to_use(halo: Halo, terminal: TmuxTerminal, variable: str):
    terminal.runs(f"{variable} {BOARD}").sees("cannot show a full screen", "halo tasks list --all", "code 2")


async def test_without_a_terminal_it_says_what_to_use(halo: Halo):
    done = await halo.run("board")
    assert done.code == 2
    assert "needs a terminal" in done.err
    assert "halo tasks list --all" in done.err


def test_without_colors_the_choice_is_still_seen(halo: Halo, begin: Begin, terminal: TmuxTerminal):
    begin(RISKY, DONE, name="asking")
    terminal.runs(f"NO_COLOR=1 {BOARD}").sees("▌? tell me of asking").presses("Enter").sees("❯ y   allow once")
    assert not re.search(r"\x1b\[[0-9;]*(3[1-7]|4[1-7]|9[1-7])m", terminal._tmux("capture-pane", "-p", "-e", "-t", "t"))


def add_golden_tasks(halo: Halo) -> None:
    for path in sorted(GOLDEN.glob("*.jsonl")):
        text = AT.sub(lambda found: b"%.3f" % (float(found[0]) - LONG_AGO), path.read_bytes())
        folder = halo.home / "tasks" / codec.decode(text.split(b"\n")[0]).task
        folder.mkdir(parents=True)
        (folder / codec.LOG_NAME).write_bytes(text)


def settle(terminal: TmuxTerminal) -> str:
    """Wait until nothing changes any more."""
    before, shown = "", terminal.screen
    while before != shown:
        time.sleep(1.5)
        before, shown = shown, terminal.screen
    return shown


def test_the_list_looks_as_recorded_at_each_size(halo: Halo, terminal: TmuxTerminal):
    add_golden_tasks(halo)
    terminal.runs(BOARD).sees("ended (")
    for columns, rows in ((120, 40), (80, 24), (50, 20)):
        shown = settle(terminal.resizes(columns, rows))
        path = SNAPSHOTS / f"list-{columns}x{rows}.txt"
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(shown, encoding="utf-8")
        assert shown.split("\n") == path.read_text(encoding="utf-8").split("\n")


def test_the_selected_task_stays_on_the_screen(halo: Halo, open_terminal: Open):
    add_golden_tasks(halo)
    terminal = open_terminal(60, 12).runs(BOARD).sees("ended (", "▌")
    for key in ("End", "Home", "NPage", "PPage", *["Down"] * 6):
        assert "▌" in settle(terminal.presses(key))
