"""Each surface lets a person leave out some files of a patch; that of the page: its own tests."""

import pytest
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin as begin_session, connect, flags, prompt
from tests.surfaces.cli.halo_process import Halo, call
from tests.surfaces.cli.live.conftest import Open, open_terminal

from halocline.protocol import events as ev
from halocline.protocol.kinds import Choice, Diff, ToolKind
from halocline.providers.scripted.script import Call, Turn
from halocline.surfaces.cli.mcp.serve_forms import answer_to, form_of, types

__all__ = ["open_terminal"]

PATCH = (
    "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: b.txt\n+two\n*** Delete File: c.txt\n"
    "*** End Patch"
)
TOLD = "refused the changes to b.txt, which stay as they are"
ASKED = ev.ApprovalRequested(
    "r1",
    "c1",
    "apply_patch",
    "Edit a.txt, add b.txt",
    ToolKind.EDIT,
    "why",
    tuple(Choice),
    diffs=(Diff("a.txt", "", 1, 1), Diff("b.txt", "", 1, 0)),
)


def fill(folder) -> None:
    (folder / "a.txt").write_text("one\n")
    (folder / "c.txt").write_text("three\n")


def list_texts(folder) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.txt")}


@pytest.mark.slow
@pytest.mark.process
def test_files_are_switched_off_in_a_terminal_and_the_card_says_which(halo: Halo, open_terminal: Open):
    fill(halo.folder)
    model = halo.script({"call": [call("apply_patch", input=PATCH)]}, {"text": "Done it.", "expect": TOLD})
    terminal = open_terminal(100, 50).starts("-m", model).says("go").sees("choose among its 3 files").decides("f")
    terminal.sees("[x] b.txt (+1 −0)", "allow 3 of 3 files").decides("2").sees("[ ] b.txt", "allow 2 of 3 files")
    terminal.decides("y").sees("without b.txt", "Done it.")
    assert list_texts(halo.folder) == {"a.txt": "ONE\n"}


@pytest.mark.process
@pytest.mark.parametrize("refuses", ["b.txt", ""])
async def test_an_editor_asks_for_each_file_if_the_person_wants_that(tmp_path, refuses: str):
    folder = tmp_path / "project"
    folder.mkdir()
    fill(folder)

    def decide(shown, options):
        names = {one.name: one.option_id for one in options}
        if "Decide file by file" in names:
            return names["Decide file by file"]
        (path,) = (place.path for place in shown.locations)
        return names["Leave this file as it is" if refuses and path.endswith(refuses) else "Change this file"]

    editor = Editor(decide)
    done = Turn(text="Done it.", expect=TOLD if refuses else "")
    turns = [Turn(calls=(Call("apply_patch", {"input": PATCH}),)), done]
    async with ModelServer(turns) as server, connect(editor, tmp_path, *flags(server)) as connection:
        _, session = await begin_session(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("go"))
    left = {"a.txt": "ONE\n"} if refuses else {"a.txt": "ONE\n", "b.txt": "two\n"}
    assert (len(editor.asked), editor.said, list_texts(folder)) == (4, "Done it.", left)


def test_a_form_has_a_switch_for_each_file():
    fields = form_of(ASKED).requested_schema["properties"]
    assert [fields[name]["title"] for name in ("file_0", "file_1")] == ["Change a.txt", "Change b.txt"]
    given = types.ElicitResult(action="accept", content={"decision": "allow_once", "file_0": True, "file_1": False})
    assert answer_to(ASKED, given).refused == ("b.txt",)
