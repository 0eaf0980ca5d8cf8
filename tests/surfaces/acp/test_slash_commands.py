import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema
from tests import samples
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin, choose, connect, prompt

from halocline.client.prompts import SLASH_COMMANDS
from halocline.providers.scripted.script import Call, Turn

pytestmark = pytest.mark.process
SERVER = Path(__file__).parents[2] / "mcp" / "server.py"
MESSAGES = (schema.AgentMessageChunk, schema.AgentThoughtChunk)
WRITE = Call("write_to_file", {"path": "new.txt", "content": "one\n"})


async def run(editor: Editor, root: Path, folder: Path, *prompts: str, turns: tuple[Turn, ...] = ()) -> int:
    """Send prompts; returns how often the model was asked."""
    async with (
        ModelServer([*turns]) as server,
        connect(editor, root, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        for text in prompts:
            ended = await connection.prompt(session_id=session.session_id, prompt=prompt(text))
            assert ended.stop_reason == "end_turn"
        await editor.until(lambda: editor.of(schema.AvailableCommandsUpdate))
        return len(server.requests)


async def test_commands_that_only_a_terminal_can_do_are_not_offered(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    await run(editor, tmp_path, folder)
    offered = {one.name for update in editor.of(schema.AvailableCommandsUpdate) for one in update.available_commands}
    assert offered >= {"init", "newtask", "compact", "undo", "checkpoint", "cost", "context", "model", "permissions"}
    assert offered & {"quit", "clear", "resume", "fork", "add-dir", "theme"} == set()


async def test_a_command_about_the_task_is_answered_without_the_model(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    prompts = ("hi", "/cost", "/context", "/todos", "/permissions", "/mode", "/usage", "/status", "/diff", "/copy")
    assert await run(editor, tmp_path, folder, *prompts, turns=(Turn(text="Hello."),)) == 1
    for text in (
        "1 step",
        "system prompt",
        "The to-do list is empty.",
        "No permissions.",
        "The mode is act.",
        "approvals  ask",
        "Nothing changed",
    ):
        assert text.lower() in editor.said.lower()


async def test_a_command_changes_an_option_and_the_editor_is_told(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    await run(editor, tmp_path, folder, "/mode plan")
    (mode,) = editor.of(schema.CurrentModeUpdate)
    assert (mode.current_mode_id, editor.said) == ("plan", "Done.")


@pytest.mark.parametrize(("kind", "is_there"), [("allow_once", False), ("reject_once", True)])
async def test_an_undo_shows_what_it_does_and_asks(tmp_path: Path, folder: Path, kind: str, is_there: bool) -> None:
    editor = Editor()
    turns = (Turn(calls=(WRITE,)), Turn(text="Written."))
    async with (
        ModelServer([*turns]) as server,
        connect(editor, tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("write"))
        editor.decides = choose(kind)
        await connection.prompt(session_id=session.session_id, prompt=prompt("/undo"))
    assert (folder / "new.txt").exists() is is_there
    assert [one.kind for one in editor.asked[-1][1]] == ["allow_once", "reject_once"]
    assert "new.txt" in editor.said


def offered(editor: Editor) -> set[str]:
    """The names that the editor knows now."""
    updates = editor.of(schema.AvailableCommandsUpdate)
    return {one.name for one in updates[-1].available_commands} if updates else set()


async def test_prompts_of_a_server_are_announced_when_it_has_started_and_when_they_change(
    tmp_path: Path, folder: Path
) -> None:
    editor = Editor()
    brought = schema.McpServerStdio(name="tools", command=sys.executable, args=[str(SERVER), "slow", "grows"], env=[])
    turns = [Turn(calls=(Call("tools__echo", {"text": "x"}),)), Turn(text="Done.")]
    async with (
        ModelServer(turns) as server,
        connect(editor, tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        await connection.initialize(1, schema.ClientCapabilities())
        session = await connection.new_session(cwd=str(folder), mcp_servers=[brought])
        await editor.until(lambda: "mcp:tools:greet" in offered(editor))
        await connection.prompt(session_id=session.session_id, prompt=prompt("call it"))
        await editor.until(lambda: offered(editor) >= {"mcp:tools:greet", "mcp:tools:part"})
        count = len(editor.of(schema.AvailableCommandsUpdate))
    assert count <= 3


async def test_a_command_that_is_written_during_a_session_is_announced(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([]) as server,
        connect(editor, tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        await begin(connection, folder)
        await editor.until(lambda: offered(editor))
        (tmp_path / "home" / "commands").mkdir(parents=True)
        (tmp_path / "home" / "commands" / "ship.md").write_text("Ship it.")
        await editor.until(lambda: "ship" in offered(editor))


async def test_compacting_is_shown(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    turns = (Turn(text="One. " * 20_000), Turn(text="Two. " * 20_000), Turn(text="Three."), Turn(text="A summary."))
    await run(editor, tmp_path, folder, "first", "second", "third", "/compact", turns=turns)
    assert "compacted from" in editor.of(schema.AgentThoughtChunk)[-1].content.text
    assert "Done." not in editor.said


async def test_the_help_lists_what_an_editor_is_offered(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    assert await run(editor, tmp_path, folder, "/help") == 0
    listed = set(re.findall(r"^  /(\S+)", editor.said, re.MULTILINE))
    assert listed == offered(editor)


NOT_IN_AN_EDITOR = re.compile(
    r"Ctrl|\bEsc\b|\bEnter\b|\bTab\b|Shift-|\bpress\b|\bkeys?\b(?! of a provider)|\bterminal|status bar|composer",
    re.IGNORECASE,
)
ARGUMENTS = ("nothing", "1", "forget 1", "show 1", "restore 1", "diff 1", "last", "code", "stop", "undo")
OWN = [row for row in SLASH_COMMANDS.values() if not row.is_for_the_model]


@pytest.mark.slow
async def test_no_answer_to_a_command_speaks_of_what_an_editor_does_not_have(tmp_path: Path, folder: Path) -> None:
    editor = Editor(choose("reject_once"))
    step = samples.choose(1, 3)
    arguments = [("", *ARGUMENTS[at % step :: step]) for at in range(len(OWN))]
    words = [f"/{row.name} {rest}".rstrip() for row, some in zip(OWN, arguments, strict=True) for rest in some]
    prompts = [*words, "hi", *words, "/nothing", "/hlep", "/modle"]
    async with (
        ModelServer([Turn(text="Hello.")] * len(prompts)) as server,
        connect(editor, tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        found = await ask_all(connection, editor, session.session_id, prompts)
    assert found == {}


async def test_a_model_that_cannot_be_changed_during_a_turn_says_so_in_words_of_an_editor(
    tmp_path: Path, folder: Path
) -> None:
    editor = Editor()
    editor.waits = asyncio.Event()
    async with (
        ModelServer([Turn(calls=(WRITE,))]) as server,
        connect(editor, tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        running = asyncio.create_task(connection.prompt(session_id=session.session_id, prompt=prompt("write")))
        await editor.waits.wait()
        with pytest.raises(RequestError, match="cannot be changed while a turn runs") as refused:
            await connection.set_config_option(config_id="model", session_id=session.session_id, value="openai/y")
        assert not NOT_IN_AN_EDITOR.search(refused.value.data["details"])
        await connection.cancel(session_id=session.session_id)
        await running


async def ask_all(connection: Any, editor: Editor, session: str, prompts: list[str]) -> dict[str, str]:
    """Send all prompts; returns the answers, errors too, that speak of what an editor does not have."""
    found: dict[str, str] = {}
    for text in prompts:
        before = len(editor.updates)
        try:
            await connection.prompt(session_id=session, prompt=prompt(text))
            failure = ""
        except RequestError as error:
            failure = error.data["details"]
        chunks = [one for one in editor.updates[before:] if isinstance(one, MESSAGES)]
        said = "".join([failure, *(one.content.text for one in chunks)])
        if NOT_IN_AN_EDITOR.search(said):
            found[text] = said
    return found
