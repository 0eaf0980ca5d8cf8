"""Calls as clients show them. Some keep the first title, show only a permission's own fields, or cut off buttons."""

from pathlib import Path

import pytest
from acp import RequestError, schema
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin, choose, connect, prompt

from halocline.protocol import events as ev
from halocline.protocol.kinds import Choice, Grant, ToolKind
from halocline.providers.scripted.script import Call, Fault, Turn
from halocline.surfaces.acp.call_updates import CallUpdates
from halocline.surfaces.acp.permissions import explain_always, list_options

pytestmark = pytest.mark.process
WRITE = Call("write_to_file", {"path": "new.txt", "content": "one\n"})
RUN = Call("execute_command", {"command": "touch made.txt\necho two"})
READ = Call("read_file", {"path": "old.txt"})
PLAN = Call("update_todos", {"todos": "- [ ] Look"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "old.txt").write_text("a\n")
    return folder


async def play(editor: Editor, root: Path, folder: Path, *turns: Turn) -> str:
    """Send a prompt; give its session."""
    async with (
        ModelServer(turns) as server,
        connect(editor, root, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("go"))
    return session.session_id


@pytest.mark.parametrize("kind", ["allow_once", "reject_once"])
async def test_the_first_title_of_a_call_is_one_for_people(kind: str, tmp_path: Path, folder: Path) -> None:
    editor = Editor(choose(kind))
    await play(editor, tmp_path, folder, Turn(text="Now.", calls=(READ, WRITE, RUN, PLAN)), Turn(text="Done."))
    titles = [one.title for one in editor.of(schema.ToolCallStart)]
    assert titles[:2] == ["Read old.txt", "Write new.txt"]
    assert titles[2].splitlines()[0] == "touch made.txt"
    assert "_" not in "".join(titles[:3])


async def test_a_call_that_did_not_run_ends_with_a_sentence(tmp_path: Path, folder: Path) -> None:
    editor = Editor(choose("reject_once"))
    await play(editor, tmp_path, folder, Turn(calls=(WRITE, RUN)), Turn(text="I see."))
    ends = [calls[-1] for calls in editor.calls().values()]
    texts = [one.content[0].content.text for one in ends]
    assert [one.status for one in ends] == ["failed", "failed"]
    assert not any("```" in text for text in texts)
    assert texts[1].startswith("skipped")


async def test_a_permission_has_all_that_is_needed_to_decide(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    await play(editor, tmp_path, folder, Turn(calls=(WRITE, RUN)), Turn(text="Done."))
    (write, _), (run, _) = editor.asked
    assert (write.title, write.kind, write.locations) == (
        "Write new.txt",
        "edit",
        [schema.ToolCallLocation(path=str(folder / "new.txt"))],
    )
    assert [one.new_text for one in write.content or () if one.type == "diff"] == ["one\n"]
    assert (run.kind, run.raw_input) == ("execute", {"command": RUN.arguments["command"]})


async def test_a_question_is_in_the_title_and_in_the_content(tmp_path: Path, folder: Path) -> None:
    question = Call("ask_followup_question", {"question": "Which color?", "options": ["red", "blue"]})
    editor = Editor()
    await play(editor, tmp_path, folder, Turn(calls=(question,)), Turn(text="Red."))
    ((asked, _),) = editor.asked
    assert (asked.title, asked.content[0].content.text) == ("Which color?", "Which color?")


async def test_the_output_of_a_call_is_raw_output_too_as_an_object(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    await play(editor, tmp_path, folder, Turn(calls=(WRITE, READ, RUN)), Turn(text="Done."))
    write, read, run = (calls[-1] for calls in editor.calls().values())
    assert write.raw_output is None
    assert read.raw_output["output"][0].endswith("a")
    assert run.raw_output["output"][0] == "two"


async def test_the_error_of_a_prompt_is_sent_once_and_again_when_it_is_loaded(tmp_path: Path, folder: Path) -> None:
    editor, later = Editor(), Editor()
    flags = "-m", "openai/x"
    async with ModelServer([Turn(fault=Fault.AUTH)]) as server:
        async with connect(editor, tmp_path, *flags, "--base-url", server.url("openai")) as connection:
            _, session = await begin(connection, folder)
            with pytest.raises(Exception, match="did not accept the key"):
                await connection.prompt(session_id=session.session_id, prompt=prompt("go"))
        async with connect(later, tmp_path, *flags, "--base-url", server.url("openai")) as connection:
            await connection.initialize(1, schema.ClientCapabilities())
            await connection.load_session(cwd=str(folder), session_id=session.session_id, mcp_servers=[])
    assert editor.said == ""
    assert "did not accept the key" in later.said


async def test_a_session_without_a_prompt_can_be_loaded_and_resumed_while_it_is_open_and_a_refusal_keeps_it(
    tmp_path: Path, folder: Path
) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="Hello.")]) as server,
        connect(editor, tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.load_session(cwd=str(folder), session_id=session.session_id, mcp_servers=[])
        await connection.resume_session(cwd=str(folder), session_id=session.session_id, mcp_servers=[])
        with pytest.raises(RequestError):
            await connection.load_session(cwd=str(tmp_path), session_id=session.session_id, mcp_servers=[])
        await connection.prompt(session_id=session.session_id, prompt=prompt("hi"))
    assert editor.said == "Hello."


LONG = "python -m tool --with " + "x" * 200


@pytest.mark.parametrize(
    ("grant", "label", "explained"),
    [
        (Grant(ToolKind.EDIT), "Always allow edits in this task", "“Always” allows edits in the workspace."),
        (
            Grant(ToolKind.EXECUTE, subject=LONG),
            f"Always allow `{LONG[:39]}…` in this task",
            f"“Always” allows `{LONG}`.",
        ),
        (Grant(ToolKind.EXECUTE, argv=("npm", "test")), "Always allow `npm test …` in this task", ""),
        (
            Grant(ToolKind.EXECUTE, subject="./build.sh", scripts=("build.sh=1",)),
            "Always allow `./build.sh` in this task",
            "“Always” allows `./build.sh`, as long as build.sh does not change.",
        ),
    ],
)
def test_the_options_are_short_and_what_they_leave_out_is_said(grant: Grant, label: str, explained: str) -> None:
    options = (Choice.ALLOW_ONCE, Choice.ALLOW_ALWAYS, Choice.REJECT_ONCE)
    event = ev.ApprovalRequested("r", "c", "tool", "title", grant.kind, "reason", options, grant=grant)
    listed = list_options(event)
    assert [one.name for one in listed[:3]] == ["Allow", "Reject", label]
    assert {one.kind for one in listed[2:]} == {"allow_always"}
    assert explain_always(event) == explained


def test_what_an_agent_asks_is_a_call_of_its_own_with_its_name_that_ends_with_the_decision() -> None:
    updates = CallUpdates("/w", lambda blob: None)
    asked = ev.ApprovalRequested(
        "c.r1", "c.call_1", "write_to_file", "Write a.py", ToolKind.EDIT, "why", (), agent="alpha"
    )
    (shown,) = updates.of(asked)
    assert (shown.tool_call_id, shown.status) == ("c.call_1", "pending")
    assert updates.describe_request(asked).title == "The agent alpha asks: Write a.py"
    (ended,) = updates.of(ev.ApprovalResolved("c.r1", "c.call_1", Choice.ALLOW_ONCE, "user", agent="alpha"))
    assert ended.status == "completed"
