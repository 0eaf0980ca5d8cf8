import asyncio
import os
import sys
from pathlib import Path

import pytest
from acp import RequestError, schema
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import HALO, Editor, begin, choose, connect, flags, prompt

from halocline.mcp.tool_names import name_for
from halocline.providers.scripted.script import Call, Turn

pytestmark = pytest.mark.process
SERVER = Path(__file__).parents[2] / "mcp" / "server.py"
WRITE = Call("write_to_file", {"path": "new.txt", "content": "one\ntwo\n"})
ECHO = Call("execute_command", {"command": "touch made.txt"})
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "old.txt").write_text("a\nb\nc\n")
    return folder


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


async def test_a_running_command_shows_its_output_in_its_call_and_not_in_a_terminal_of_the_editor(
    tmp_path: Path, folder: Path
) -> None:
    editor = Editor()
    command = Call("execute_command", {"command": "echo begun; until [ -e go ]; do sleep 0.05; done; echo ended"})
    async with (
        ModelServer([Turn(calls=(command,)), Turn(text="Done.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder, schema.ClientCapabilities(terminal=True))
        running = asyncio.create_task(connection.prompt(session_id=session.session_id, prompt=prompt("run")))
        shown = await editor.until(
            lambda: [
                one
                for one in editor.of(schema.ToolCallProgress)
                if "```console" in str(one.content) and "begun" in str(one.content)
            ]
        )
        assert shown[0].status in (None, "in_progress")
        (folder / "go").touch()
        await running
    last = editor.calls()[shown[0].tool_call_id][-1]
    assert (last.status, "ended" in last.content[0].content.text) == ("completed", True)


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


async def test_a_cancelled_turn_ends_as_cancelled(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    slow = Turn(text="word " * 400, pace=0.05)
    async with ModelServer([slow]) as server, connect(editor, tmp_path, *flags(server)) as connection:
        _, session = await begin(connection, folder)
        asked = asyncio.create_task(connection.prompt(session_id=session.session_id, prompt=prompt("talk")))
        await editor.until(lambda: editor.said)
        await connection.cancel(session_id=session.session_id)
        assert (await asked).stop_reason == "cancelled"


async def test_a_cancelled_permission_ends_the_turn(tmp_path: Path, folder: Path) -> None:
    editor = Editor(lambda call, options: None)
    async with (
        ModelServer([Turn(calls=(ECHO,)), Turn(text="Never said.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        ended = await connection.prompt(session_id=session.session_id, prompt=prompt("touch"))
    assert (ended.stop_reason, (folder / "made.txt").exists()) == ("cancelled", False)


async def test_a_question_with_answers_is_a_choice(tmp_path: Path, folder: Path) -> None:
    ask = Call("ask_followup_question", {"question": "Which color?", "options": ["red", "blue"]})
    editor = Editor(lambda call, options: options[1].option_id)
    async with (
        ModelServer([Turn(calls=(ask,)), Turn(text="Blue it is.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("paint"))
        assert "blue" in str(server.requests[-1])
    ((call, options),) = editor.asked
    assert (call.title, [one.name for one in options]) == ("Which color?", ["red", "blue", "Type another answer"])
    assert editor.said == "Blue it is."


async def test_an_open_question_is_answered_by_the_next_prompt(tmp_path: Path, folder: Path) -> None:
    ask = Call("ask_followup_question", {"question": "Which name?"})
    editor = Editor()
    async with (
        ModelServer([Turn(calls=(ask,)), Turn(text="Hello Ada.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        first = await connection.prompt(session_id=session.session_id, prompt=prompt("greet"))
        assert (first.stop_reason, editor.said.strip()) == ("end_turn", "Which name?")
        await connection.prompt(session_id=session.session_id, prompt=prompt("Ada"))
        assert "Ada" in str(server.requests[-1])
    assert editor.said.endswith("Hello Ada.")


async def test_modes_and_options_change_and_are_told(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(calls=(WRITE,)), Turn(text="Done.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        assert session.modes.current_mode_id == "ask"
        assert {one.id for one in session.config_options} >= {"mode", "model"}
        await connection.set_session_mode(session_id=session.session_id, mode_id="accept-edits")
        await editor.until(
            lambda: [one for one in editor.of(schema.CurrentModeUpdate) if one.current_mode_id == "accept-edits"]
        )
        changed = await connection.set_config_option(session_id=session.session_id, config_id="mode", value="yolo")
        assert next(one for one in changed.config_options if one.id == "mode").current_value == "yolo"
        await connection.prompt(session_id=session.session_id, prompt=prompt("write"))
    assert (editor.asked, (folder / "new.txt").exists()) == ([], True)


async def test_attached_files_images_and_links_reach_the_model(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    unsaved = schema.TextResourceContents(uri=f"file://{folder}/open.py", text="print('unsaved')")
    blocks = [
        schema.TextContentBlock(text="Look at", type="text"),
        schema.ResourceContentBlock(uri=f"file://{folder}/old.txt", name="old.txt", type="resource_link"),
        schema.EmbeddedResourceContentBlock(resource=unsaved, type="resource"),
        schema.ImageContentBlock(data=PIXEL, mime_type="image/png", type="image"),
    ]
    async with (
        ModelServer([Turn(text="Seen.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=blocks)
        sent = str(server.requests[-1])
    assert "@old.txt" in sent
    assert "1 | a" in sent
    assert "unsaved" in sent
    assert "[image: image/png" in sent


@pytest.mark.parametrize("sees", [False, True])
async def test_an_image_stays_in_the_session_and_a_model_that_does_not_see_it_is_named(
    tmp_path: Path, folder: Path, sees: bool
) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "settings.toml").write_text(f"image_models = {['openai/*'] if sees else []}\n")
    first, second = Editor(), Editor()
    image = schema.ImageContentBlock(data=PIXEL, mime_type="image/png", type="image")
    async with (
        ModelServer([Turn(text="Seen."), Turn(text="Yes.")]) as server,
        connect(first, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        for blocks in ([image], prompt("really?")):
            await connection.prompt(session_id=session.session_id, prompt=blocks)
            assert (PIXEL in str(server.requests[-1].body)) is sees
            assert ("this model cannot view images" in str(server.requests[-1].body)) is not sees
    async with ModelServer([]) as server, connect(second, tmp_path, *flags(server)) as connection:
        await connection.initialize(1, schema.ClientCapabilities())
        await connection.load_session(cwd=str(folder), session_id=session.session_id, mcp_servers=[])
    thoughts = "".join(one.content.text for one in first.of(schema.AgentThoughtChunk))
    assert thoughts.count("This model does not accept images") == (not sees)
    assert [one.content.data for one in second.of(schema.UserMessageChunk) if one.content.type == "image"] == [PIXEL]


async def test_a_linked_file_that_cannot_be_included_is_named_to_the_person_and_to_the_model(
    tmp_path: Path, folder: Path
) -> None:
    editor = Editor()
    link = schema.ResourceContentBlock(uri=(folder / "gone.dat").as_uri(), name="gone.dat", type="resource_link")
    async with (
        ModelServer([Turn(text="Where?")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=[link])
        assert '@"gone.dat": not found' in server.requests[-1].body["messages"][-1]["content"]
    assert '@"gone.dat": not found' in "".join(one.content.text for one in editor.of(schema.AgentThoughtChunk))


async def test_a_fork_goes_on_from_the_conversation_and_leaves_the_original(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="One."), Turn(text="Two.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("first words"))
        fork = await connection.fork_session(session_id=session.session_id, cwd=str(folder))
        assert fork.session_id != session.session_id
        await connection.prompt(session_id=fork.session_id, prompt=prompt("more words"))
        assert "first words" in str(server.requests[-1])


async def test_sessions_without_a_prompt_leave_nothing_behind(tmp_path: Path, folder: Path) -> None:
    async with ModelServer([]) as server, connect(Editor(), tmp_path, *flags(server)) as connection:
        await begin(connection, folder)
        _, second = await begin(connection, folder)
        await connection.close_session(session_id=second.session_id)
    assert list((tmp_path / "home" / "tasks").glob("*")) == []


async def test_the_model_can_call_a_server_that_the_editor_brings(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "settings.toml").write_text("[mcp]\nwait = 20\n")  # the machine may be slow
    editor = Editor()
    brought = schema.McpServerStdio(name="my/tools", command=sys.executable, args=[str(SERVER)], env=[])
    calls = Turn(calls=(Call(name_for("my/tools", "echo"), {"text": "from the server"}),))
    async with (
        ModelServer([calls, Turn(text="Heard.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        await connection.initialize(1, schema.ClientCapabilities())
        session = await connection.new_session(cwd=str(folder), mcp_servers=[brought])
        await connection.prompt(session_id=session.session_id, prompt=prompt("call it"))
        assert "from the server" in str(server.requests[-1])
    ((call, _),) = editor.asked
    assert "echo" in (call.title or "")


MOST_PROMPTS = 10


async def test_a_server_of_the_editor_that_fails_is_to_be_checked_there(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    brought = schema.McpServerStdio(name="my tools", command=sys.executable, args=[str(SERVER), "dies"], env=[])
    async with (
        ModelServer([Turn(text="Hello.")] * MOST_PROMPTS) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        await connection.initialize(1, schema.ClientCapabilities())
        session = await connection.new_session(cwd=str(folder), mcp_servers=[brought])
        for _ in range(MOST_PROMPTS):  # on a busy machine it fails after the first request was sent
            await connection.prompt(session_id=session.session_id, prompt=prompt("hi"))
            if editor.of(schema.AgentThoughtChunk):
                break
            await asyncio.sleep(1)
    (said,) = [one.content.text for one in editor.of(schema.AgentThoughtChunk)]
    assert said.startswith("The MCP server my tools is not available: ")
    assert said.endswith("Check it where it is set up (editor).\n")


async def test_a_file_in_the_place_of_an_editor_is_refused(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HALOCLINE_HOME": str(tmp_path / "home")}
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    with (tmp_path / "out").open("wb") as out:
        for source, target in ((pipe, out), (null, pipe)):
            process = await asyncio.create_subprocess_exec(*HALO, stdin=source, stdout=target, stderr=pipe, env=env)
            _, told = await process.communicate()
            assert (process.returncode, b"over pipes" in told, b"Traceback" in told) == (2, True, False)


async def test_work_that_is_handed_over_goes_on_in_the_same_session(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    hand_over = Turn(calls=(Call("new_task", {"context": "Write the docs."}),))
    async with (
        ModelServer([hand_over, Turn(text="The docs are written."), Turn(text="And more.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        ended = await connection.prompt(session_id=session.session_id, prompt=prompt("/newtask"))
        assert (ended.stop_reason, editor.said) == ("end_turn", "The docs are written.")
        await connection.prompt(session_id=session.session_id, prompt=prompt("more"))
    assert editor.said.endswith("And more.")
    assert all(call[-1].status in ("completed", "failed") for call in editor.calls().values())
    assert len(list((tmp_path / "home" / "tasks").glob("*/events.jsonl"))) == 2


async def test_an_approval_that_waits_is_asked_again_when_the_session_is_resumed(tmp_path: Path, folder: Path) -> None:
    first, second = Editor(), Editor()
    asked = asyncio.Event()
    first.waits = asked
    async with ModelServer([Turn(calls=(WRITE,)), Turn(text="Done.")]) as server:
        async with connect(first, tmp_path, *flags(server)) as connection:
            _, session = await begin(connection, folder)
            prompting = asyncio.create_task(connection.prompt(session_id=session.session_id, prompt=prompt("write")))
            await asked.wait()
            first.process.kill()
            await asyncio.gather(prompting, return_exceptions=True)
        async with connect(second, tmp_path, *flags(server)) as connection:
            await connection.initialize(1, schema.ClientCapabilities())
            await connection.resume_session(session_id=session.session_id, cwd=str(folder))
            await second.until(lambda: second.said)
    assert [call.title for call, _ in second.asked] == ["Write new.txt"]
    assert (folder / "new.txt").exists()


async def test_nothing_of_what_is_asked_can_hide(tmp_path: Path, folder: Path) -> None:
    editor = Editor(choose("reject_once"))
    hostile = Call("execute_command", {"command": "ls \u202etxt.a\u200b; rm x\x1b[2K"})
    async with (
        ModelServer([Turn(calls=(hostile,)), Turn(text="I see.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("list"))
    ((call, _),) = editor.asked
    shown = (call.title or "") + str([one.content for one in editor.calls()[call.tool_call_id]])
    assert all(text in shown for text in ("<U+202E>", "<U+200B>", "rm x"))
    assert not {"\u202e", "\u200b", "\x1b"} & set(shown)


async def test_what_the_log_contradicts_in_a_reply_is_said_behind_it(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    failing = Call("execute_command", {"command": "python3 -m unittest nothing_here"})
    turns = [Turn(calls=(WRITE,)), Turn(calls=(failing,)), Turn(text="All tests pass.")]
    async with (
        ModelServer(turns) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.set_config_option(session_id=session.session_id, config_id="mode", value="yolo")
        await connection.prompt(session_id=session.session_id, prompt=prompt("test it"))
    assert "All tests pass." in editor.said
    assert "(Not confirmed: `python3 -m unittest nothing_here` ended with exit 1.)" in editor.said
    assert "new.txt new" in "".join(one.content.text for one in editor.of(schema.AgentThoughtChunk))
