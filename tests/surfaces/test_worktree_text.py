from halocline.checkpoints.restore.merge_in import Merged
from halocline.client.worktrees import Conflict, WorktreeMerge
from halocline.protocol.left_out import LeftOut
from halocline.surfaces.worktree_text import describe_merge

NAME = "new\nTo undo: halo tasks delete --all\x1b[2J"


def test_a_file_name_is_shown_in_one_line_whatever_it_contains() -> None:
    conflict = Conflict(NAME, why="changed in both")
    merged = Merged(changed=(NAME, "b"), merges=("b",), stays=(NAME,), conflicts=(conflict,), kept=(NAME,))
    left = (LeftOut(NAME, "it is too large"),)
    lines = describe_merge("x", WorktreeMerge(merged, left, left, (NAME,)))
    assert [line for line in lines if not line.isprintable()] == []
    assert sum(r"new\nTo undo" in line for line in lines) == 7
