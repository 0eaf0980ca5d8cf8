"""A workspace that is moved or removed while a task is open: said by whatever comes next, and never made anew."""

from pathlib import Path

import pytest

from halocline.protocol.errors import ToolFailure

PATCH = "*** Begin Patch\n*** Add File: new/a.txt\n+one\n*** End Patch"
CHANGE = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch"
BLOCK = "------- SEARCH\none\n=======\ntwo\n+++++++ REPLACE\n"
CALLS = [
    ("write_to_file", {"path": "a.txt", "content": "two\n"}),
    ("write_to_file", {"path": "new/b.txt", "content": "two\n"}),
    ("replace_in_file", {"path": "a.txt", "diff": BLOCK}),
    ("apply_patch", {"input": PATCH}),
    ("apply_patch", {"input": CHANGE}),
    ("read_file", {"path": "a.txt"}),
    ("list_files", {"path": "."}),
    ("search_files", {"path": ".", "regex": "one"}),
    ("list_code_definition_names", {"path": "."}),
    ("execute_command", {"command": "echo hi"}),
    ("execute_command", {"command": "echo hi > a.txt", "background": True}),
]


@pytest.mark.process
@pytest.mark.parametrize("is_moved", [True, False])
@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_a_call_in_a_workspace_that_is_gone_says_so_and_makes_no_folder(
    say, workspace: Path, tool: str, arguments: dict[str, object], is_moved: bool
):
    (workspace / "a.txt").write_text("one\n")
    if is_moved:
        workspace.rename(workspace.with_name("moved"))
    else:
        (workspace / "a.txt").unlink()
        workspace.rmdir()
    with pytest.raises(ToolFailure, match=rf"{workspace} no longer exists.*moved or removed.*(?s:.*)tell the user"):
        await say(tool, **arguments)
    assert not workspace.exists()


async def test_other_folders_can_be_read_meanwhile(say, workspace: Path, tmp_path: Path):
    other = tmp_path / "other.txt"
    other.write_text("there\n")
    workspace.rename(workspace.with_name("moved"))
    assert "there" in await say("read_file", path=str(other))
