"""Reviewing and rewinding from the board, on real checkpoints."""

import pytest
from tests.surfaces.cli.halo_process import Halo, call
from tests.surfaces.tui.conftest import Begin, OpenBoard

from halocline.protocol import events as ev

pytestmark = [pytest.mark.slow, pytest.mark.process]

BEFORE = "def add(a, b):\n    return a + b\n" + "".join(f"# {number}\n" for number in range(40)) + "last = 1\n"
EDIT = """------- SEARCH
def add(a, b):
    return a + b
=======
def add(first, second):
    return first + second
+++++++ REPLACE
------- SEARCH
last = 1
=======
last = 2
+++++++ REPLACE
"""
TURNS = ({"call": [call("replace_in_file", path="calc.py", diff=EDIT)]}, {"text": "Done."})


async def finish_edit(halo: Halo) -> None:
    (halo.folder / "calc.py").write_text(BEFORE)
    done = await halo.run("-p", "--approval-mode", "accept-edits", "-m", halo.script(*TURNS), "rename them")
    assert done.code == 0


@pytest.mark.parametrize("width", [120, 80])
async def test_a_change_is_taken_back_and_put_in_again(halo: Halo, open_board: OpenBoard, width: int):
    await finish_edit(halo)
    after = (halo.folder / "calc.py").read_text()
    async with open_board((width, 30)) as board:
        await board.sees("ended (1)")
        await board.presses("enter")
        await board.sees("Done.")
        await board.presses("d")
        await board.sees("1 file changed since this task began: +3 −3", "def add(first, second):")
        assert ("│ 1 + def add(first, second):" in board.text) is (width == 120)
        await board.presses("u")
        await board.sees("take this change back")
        await board.decides("y")
        await board.sees("taken back · u puts it in again")
        assert (halo.folder / "calc.py").read_text() == BEFORE.replace("last = 1", "last = 2")
        await board.presses("u")
        await board.sees("put this change in again")
        await board.decides("y")
        await board.sees_no("taken back")
    assert (halo.folder / "calc.py").read_text() == after


async def test_only_some_changes_of_a_waiting_edit_are_made(halo: Halo, begin: Begin, open_board: OpenBoard):
    (halo.folder / "calc.py").write_text(BEFORE)
    begin(*TURNS)
    async with open_board() as board:
        await board.sees("approve: Edit calc.py")
        await board.presses("enter")
        await board.sees("choose among its 2 changes")
        await board.decides("h")
        await board.sees("allow 2 of 2 changes")
        await board.decides("1")
        await board.sees("allow 1 of 2 changes")
        await board.decides("y")
        await board.sees("edited by you", "Done.")
    assert (halo.folder / "calc.py").read_text() == BEFORE.replace("last = 1", "last = 2")


async def test_a_task_goes_back_to_before_its_prompt_after_a_preview(halo: Halo, open_board: OpenBoard):
    await finish_edit(halo)
    async with open_board() as board:
        await board.sees("ended (1)")
        await board.presses("enter")
        await board.sees("Done.")
        await board.presses("t")
        await board.sees("Timeline", "rename them", "Edit calc.py", "Going back to this point")
        await board.presses("home")
        await board.sees("Going back before this prompt", "restore  calc.py", "The model forgets")
        await board.presses("enter")
        await board.sees("Conversation and files", "❯ n")
        await board.decides("1")
        await board.sees("Restored 1 file.", "To undo")
    assert (halo.folder / "calc.py").read_text() == BEFORE
    assert any(isinstance(event, ev.ConversationRestored) for event in halo.log())


async def test_the_last_change_of_files_is_undone_after_a_confirmation(halo: Halo, open_board: OpenBoard):
    await finish_edit(halo)
    async with open_board() as board:
        await board.sees("ended (1)")
        await board.presses("enter")
        await board.sees("Done.")
        await board.presses("t")
        await board.sees("Edit calc.py")
        await board.presses("u")
        await board.sees("Restore the files?", "restore  calc.py")
        await board.types("yes")
        await board.decides()
        assert (halo.folder / "calc.py").read_text() != BEFORE
        await board.decides("y")
        await board.sees("Restored 1 file.", "To undo")
    assert (halo.folder / "calc.py").read_text() == BEFORE
