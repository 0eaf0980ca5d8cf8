from pathlib import Path

import pytest
from acp import RequestError, schema
from tests.surfaces.acp.editor import Editor, begin, choose, connect, prompt

from halocline.providers.scripted.script import Call, Turn
from halocline.testing.model_server import ModelServer

WRITE = Call("write_to_file", {"path": "new.txt", "content": "one\ntwo\n"})
ECHO = Call("execute_command", {"command": "touch made.txt"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "old.txt").write_text("a\nb\nc\n")
    return folder


def flags(server: ModelServer) -> tuple[str, ...]:
    return "-m", "openai/x", "--base-url", server.url("openai")


async def test_a_turn_streams_its_text_and_ends(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="Hello there.", thinking="Hm.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        ready, session = await begin(connection, folder)
        ended = await connection.prompt(session_id=session.session_id, prompt=prompt("say hello"))
    assert ready.agent_capabilities.load_session
    assert ended.stop_reason == "end_turn"
    assert editor.said == "Hello there."
    assert "".join(one.content.text for one in editor.of(schema.AgentThoughtChunk)) == "Hm."


async def test_an_edit_shows_its_diff_before_it_is_approved(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(calls=(WRITE,)), Turn(text="Done.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("write"))
    assert (folder / "new.txt").read_text() == "one\ntwo\n"
    ((call, options),) = editor.asked
    assert {one.kind for one in options} >= {"allow_once", "allow_always", "reject_once"}
    shown = [one.content for one in editor.calls()[call.tool_call_id] if one.content]
    diffs = [part for content in shown for part in content if isinstance(part, schema.FileEditToolCallContent)]
    assert (diffs[0].path, diffs[0].old_text, diffs[0].new_text) == (str(folder / "new.txt"), None, "one\ntwo\n")
    assert [one.status for one in editor.calls()[call.tool_call_id]][-1] == "completed"


async def test_a_rejected_call_does_not_run(tmp_path: Path, folder: Path) -> None:
    editor = Editor(choose("reject_once"))
    async with (
        ModelServer([Turn(calls=(ECHO,)), Turn(text="I see.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("touch"))
    assert not (folder / "made.txt").exists()
    assert [one.status for one in editor.calls()[editor.asked[0][0].tool_call_id]][-1] == "failed"


async def test_a_loaded_session_sends_its_whole_conversation_first(tmp_path: Path, folder: Path) -> None:
    turns = [Turn(calls=(WRITE,)), Turn(text="Done."), Turn(text="Again.")]
    first, second = Editor(), Editor()
    async with ModelServer(turns) as server:
        async with connect(first, tmp_path, *flags(server)) as connection:
            _, session = await begin(connection, folder)
            await connection.prompt(session_id=session.session_id, prompt=prompt("write"))
        async with connect(second, tmp_path, *flags(server)) as connection:
            await connection.initialize(1, schema.ClientCapabilities())
            listed = await connection.list_sessions(cwd=str(folder))
            assert [one.session_id for one in listed.sessions] == [session.session_id]
            await connection.load_session(cwd=str(folder), session_id=session.session_id, mcp_servers=[])
            assert second.said == "Done."
            assert [one.content.text for one in second.of(schema.UserMessageChunk)] == ["write"]
            await connection.prompt(session_id=session.session_id, prompt=prompt("again"))
    assert second.said == "Done.Again."


async def test_what_cannot_be_answered_is_an_error_and_the_process_lives(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="Still here.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        for asked in (
            connection.new_session(cwd="relative", mcp_servers=[]),
            connection.new_session(cwd="/nowhere", mcp_servers=[]),
            connection.prompt(session_id="none", prompt=prompt("x")),
            connection.set_session_mode(session_id=session.session_id, mode_id="bold"),
            connection.load_session(cwd=str(folder), session_id="../x", mcp_servers=[]),
        ):
            with pytest.raises(RequestError):
                await asked
        await connection.prompt(session_id=session.session_id, prompt=prompt("and now?"))
    assert editor.said == "Still here."
