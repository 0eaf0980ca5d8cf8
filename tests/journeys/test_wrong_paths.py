"""A path that names nothing is answered with the one that was meant, in every form that models send."""

import msgspec
import pytest
from tests.journeys.conftest import YOLO

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

APP = "src/app.py"
ASK = TaskOptions(approval_mode=ApprovalMode.ASK)
EDIT = "------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n"
FORMS = {
    r"src\app.py": APP,
    r".\src\app.py": APP,
    r"C:\src\app.py": APP,
    " src/app.py": APP,
    "src/app.py\n": APP,
    "'src/app.py'": APP,
    '"src/app.py"': APP,
    "`src/app.py`": APP,
    "<src/app.py>": APP,
    "@src/app.py": APP,
    "@/src/app.py": APP,
    "src/app.py:12": APP,
    "src/app.py:3-9": APP,
    "src/app.py#L3-L9": APP,
    "file:src/app.py": APP,
    "file://{workspace}/src/app.py": APP,
    "file:///src/app.py": APP,
    "project/src/app.py": APP,
    "./project/src/app.py": APP,
    "a/src/app.py": APP,
    "SRC/App.py": APP,
    "app.py": APP,
    "lib/app.py": APP,
    "src/ap.py": APP,
    "src/application.py": APP,
    "srcs/app.py": APP,
    "readme.md": "README.md",
    "docs/README.MD": "README.md",
    "file:my%20notes.txt": "my notes.txt",
    "{workspace}/aap.py": APP,
    "/src/app.py": APP,
    "/workspace/project/src/app.py": APP,
    "~/project/src/app.py": APP,
}


def answers(journey):
    return [event.result.content[0].text for event in journey.of(ev.ToolCallEnded)]


@pytest.fixture(autouse=True)
def files(journey):
    for name in (APP, "src/other.txt", "README.md", "my notes.txt", "hidden/keys.txt", "hidden/plan.py"):
        journey.write(name, "x\n")
    journey.write(".haloclineignore", "hidden/\n")


@pytest.mark.parametrize("form", FORMS)
async def test_a_wrong_path_is_answered_with_the_right_one(journey, form):
    path = form.format(workspace=journey.workspace)
    calls = (Call("read_file", {"path": path}, id="read"), Call("list_files", {"path": path}, id="list"))
    await journey.run(*(Turn(calls=(call,)) for call in calls), Turn(text="done"), options=ASK)
    for answer in answers(journey):
        assert f"Did you mean {FORMS[form]}" in answer


@pytest.mark.parametrize(
    "call",
    [
        Call("replace_in_file", {"path": "sources/app.py", "diff": EDIT}),
        Call("apply_patch", {"input": "*** Begin Patch\n*** Update File: sources/app.py\n@@\n-x\n+y\n*** End Patch"}),
        Call("search_files", {"path": "sources/app.py", "regex": "x"}),
        Call("list_code_definition_names", {"path": "sources/app.py"}),
    ],
    ids=lambda call: call.tool,
)
async def test_each_tool_that_needs_a_file_names_the_right_one_and_makes_none(journey, call):
    await journey.run(Turn(calls=(call,)), Turn(text="done"), options=YOLO)
    assert f"Did you mean {APP}?" in answers(journey)[0]
    assert not (journey.workspace / "sources").exists()


@pytest.mark.parametrize("path", ["keys.txt", "hiden/keys.txt", "/hidden/keys.txt", "HIDDEN/KEYS.TXT", "plans.py"])
async def test_a_name_that_is_hidden_is_never_what_was_meant(journey, path):
    await journey.run(Turn(calls=(Call("read_file", {"path": path}),)), Turn(text="done"), options=ASK)
    assert "hidden" not in answers(journey)[0].partition("Did you mean")[2]


async def test_a_path_in_another_folder_of_the_task_needs_no_sign_before_its_name(journey, tmp_path):
    other = tmp_path / "library"
    other.mkdir()
    (other / "core.py").write_text("code of the library\n")
    options = msgspec.structs.replace(ASK, roots=(str(other),))
    calls = (Call("read_file", {"path": "library:core.py"}), Call("read_file", {"path": "@library:core.py"}))
    await journey.run(Turn(calls=calls), Turn(text="done"), options=options)
    assert ["code of the library" in answer for answer in answers(journey)] == [True, True]
