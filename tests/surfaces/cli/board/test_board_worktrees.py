"""A task's worktree on the board, in a real terminal (tmux): seen, merged with its conflicts, undone, discarded."""

import subprocess
from pathlib import Path

import pytest
from tests.surfaces.cli.board.conftest import BOARD, Begin
from tests.surfaces.cli.halo_process import HALO, Halo, call
from tests.surfaces.cli.live.tmux_terminal import TmuxTerminal

pytestmark = [pytest.mark.slow, pytest.mark.process]


def make_repository(halo: Halo) -> None:
    (halo.folder / "a.txt").write_text("1\n2\n3\n4\n5\n")
    for words in ("init -qb main", "add .", "-c user.name=x -c user.email=x@y commit -qm Start"):
        subprocess.run(["git", *words.split()], cwd=halo.folder, env=halo.env, check=True)


@pytest.fixture
def worktree(halo: Halo, terminal: TmuxTerminal) -> Path:
    """A worktree in which a task has worked: a new file, and lines that the person changed, too."""
    make_repository(halo)
    model = halo.script({"text": "It is done."})
    terminal.runs(f"{' '.join(HALO)} run -p -w x -m {model} 'mend it'; echo code $?").sees("code 0")
    folder = halo.root / "project-worktrees" / "x"
    (folder / "a.txt").write_text("1\n2\nof the worktree\n4\n5\n")
    (folder / "new.txt").write_text("new\n")
    return folder


def test_overlapping_lines_are_shown_from_both_sides_and_merged_by_a_key_and_undone(
    halo: Halo, terminal: TmuxTerminal, worktree: Path
) -> None:
    (halo.folder / "a.txt").write_text("1\n2\nof the person\n4\n5\n")
    terminal.runs(BOARD).sees("x: 2 files to merge", "1 conflict")
    terminal.presses("w").sees("of the person", "m   merge into the main folder")
    terminal.decides("m").sees("Merged 1 file into the main folder").sees_no("m   merge into")
    assert (halo.folder / "new.txt").exists()
    assert "of the person" in (halo.folder / "a.txt").read_text()
    terminal.decides("t").sees("x: merged")
    assert "of the worktree" in (halo.folder / "a.txt").read_text()
    terminal.decides("u").sees("Undone: 1 file as before the merge", "1 conflict")
    assert "of the person" in (halo.folder / "a.txt").read_text()
    terminal.presses("Escape").sees_no("conflict markers").presses("q").sees("code 0")


def test_each_file_with_overlaps_is_shown_and_settled_by_its_own_key(
    halo: Halo, terminal: TmuxTerminal, worktree: Path
) -> None:
    (halo.folder / "a.txt").write_text("1\n2\nof the person\n4\n5\n")
    (halo.folder / "new.txt").write_text("of the person\n")
    terminal.runs(BOARD).sees("2 conflicts")
    terminal.presses("w").sees("s   settle file by file")
    terminal.decides("s").sees("a.txt, of 2 conflicts", "line 3", "of the worktree")
    terminal.decides("t").sees("new.txt, of 1 conflict").sees_no("line 3")
    terminal.decides("o").sees("Settled: a.txt, new.txt.", "x: merged")
    assert "of the worktree" in (halo.folder / "a.txt").read_text()
    assert (halo.folder / "new.txt").read_text() == "of the person\n"


def test_a_choice_is_about_the_lines_that_were_shown_and_what_was_edited_since_is_shown_first(
    halo: Halo, terminal: TmuxTerminal, worktree: Path
) -> None:
    ours = halo.folder / "a.txt"
    ours.write_text("1\n2\nof the person\n4\n5\n")
    terminal.runs(BOARD).sees("1 conflict").presses("w").sees("t   merge, overlaps as the worktree")
    ours.write_text("1\n2\nedited since\n4\n5\n")
    terminal.decides("t").sees("Changed since it was shown: a.txt.", "edited since")
    assert "edited since" in ours.read_text()
    terminal.decides("s").sees("a.txt, of 1 conflict")
    (worktree / "a.txt").write_text("1\n2\nthe agent's again\n4\n5\n")
    terminal.decides("o").sees("the agent's again", "a.txt, of 1 conflict")
    terminal.decides("t").sees("Settled: a.txt.")
    assert "the agent's again" in ours.read_text()


def test_a_file_that_could_not_be_merged_is_not_called_settled(
    halo: Halo, terminal: TmuxTerminal, worktree: Path
) -> None:
    (halo.folder / "a.txt").write_text("1\n2\nof the person\n4\n5\n")
    terminal.runs(BOARD).sees("1 conflict").presses("w").sees("s   settle file by file")
    terminal.decides("s").sees("a.txt, of 1 conflict")
    (halo.folder / "a.txt").unlink()
    (halo.folder / "a.txt").mkdir()
    (halo.folder / "a.txt/in.txt").write_text("in a folder\n")
    terminal.decides("t").sees("deleted in the main folder")
    terminal.decides("t").sees("not merged (a file, a folder or a link is in its place)")
    assert "Settled" not in terminal.screen


def test_a_discard_names_its_loss_first_and_another_key_discards_nothing(
    halo: Halo, terminal: TmuxTerminal, worktree: Path
) -> None:
    terminal.runs(BOARD).sees("2 files to merge")
    terminal.presses("w").sees("x   discard")
    terminal.decides("x").sees("a checkpoint keeps it: a.txt, new.txt", "y   discard it")
    terminal.presses("Escape").sees("m   merge into the main folder")
    assert worktree.exists()
    terminal.decides("x").sees("y   discard it").decides("y").sees("A checkpoint keeps its work")
    assert not worktree.exists()
    terminal.presses("Escape").sees("x: gone")


def test_an_agent_is_counted_with_its_task_and_what_it_left_is_merged_from_below_it(
    halo: Halo, begin: Begin, terminal: TmuxTerminal
) -> None:
    make_repository(halo)
    writes = {"call": [call("write_to_file", path="new.py", content="new = 1\n")]}
    child = halo.script(writes, {"call": [call("attempt_completion", result="Done.")]}, name="alpha")
    halo.home.mkdir(exist_ok=True)
    (halo.home / "settings.toml").write_text('subagents = "on"\n')
    spawns = call("spawn_agent", name="alpha", prompt="Write it.", writes=True, model=child)
    begin({"call": [spawns]}, {"text": "It is done."}, name="starting")
    terminal.runs(BOARD).sees("y   allow once").decides("y")
    terminal.sees("↳ alpha", "approve: Write new.py", "All tasks  1 needs you", "needs you (1)", "project ⎇ alpha-")
    terminal.sees("y   allow once").decides("y")
    terminal.sees("All tasks  1 ended", "ended (1)", "↳ alpha", "1 file to merge +1 −0")
    terminal.presses("w").sees("new.py", "m   merge into the main folder")
    terminal.decides("m").sees("Merged 1 file into the main folder", "alpha-", ": merged")
    assert (halo.folder / "new.py").read_text() == "new = 1\n"
