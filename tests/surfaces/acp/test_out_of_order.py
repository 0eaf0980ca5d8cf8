import asyncio
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema
from acp.core import ClientSideConnection
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import BOUND, Editor, ask, begin, connect, flags

from halocline.providers.scripted.script import Call, Turn

pytestmark = pytest.mark.process
SLOW = Turn(text="slow " * 20_000, pace=0.05)
WRITE = Call("write_to_file", {"path": "new.txt", "content": "one\n"})
SLEEP = Call("execute_command", {"command": "sleep 300"})
"""Seconds within which everything has to end here."""


@pytest.mark.parametrize("text", ["go", "/init go"])
async def test_a_cancel_that_follows_its_prompt_at_once_cancels_it(tmp_path: Path, folder: Path, text: str) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="word " * 200, pace=0.05)] * 3) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        asked = asyncio.create_task(ask(connection, session.session_id, text))
        await asyncio.sleep(0)
        await connection.cancel(session_id=session.session_id)
        assert await asked == "cancelled"
        assert await ask(connection, session.session_id, "next") == "end_turn"


async def test_a_cancel_without_a_prompt_changes_nothing(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with ModelServer([Turn(text="Hello.")]) as server, connect(editor, tmp_path, *flags(server)) as connection:
        _, session = await begin(connection, folder)
        await connection.cancel(session_id=session.session_id)
        await connection.cancel(session_id="none")
        assert await ask(connection, session.session_id, "hi") == "end_turn"
    assert editor.said == "Hello."


async def test_a_second_prompt_of_a_session_is_refused_and_the_first_goes_on(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="one " * 20, pace=0.1)]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        first = asyncio.create_task(ask(connection, session.session_id, "first"))
        await editor.until(lambda: editor.said)
        assert "already running" in await ask(connection, session.session_id, "second")
        assert await first == "end_turn"


@pytest.mark.parametrize("again", ["load", "resume", "close"])
async def test_a_session_that_is_opened_again_or_closed_ends_its_prompt(
    tmp_path: Path, folder: Path, again: str
) -> None:
    editor = Editor()
    async with (
        ModelServer([SLOW, Turn(text="Next.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        task = session.session_id
        first = asyncio.create_task(ask(connection, task, "first"))
        await editor.until(lambda: editor.said)
        async with asyncio.timeout(BOUND):
            match again:
                case "load":
                    await connection.load_session(cwd=str(folder), session_id=task, mcp_servers=[])
                case "resume":
                    await connection.resume_session(cwd=str(folder), session_id=task)
                case "close":
                    await connection.close_session(session_id=task)
        assert await first == "cancelled"
        ended = await ask(connection, task, "next")
    assert "not open" in ended if again == "close" else ended == "end_turn"


async def test_two_loads_of_one_task_at_once_both_work(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="One."), Turn(text="Two.")]) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        task = session.session_id
        await ask(connection, task, "first")
        async with asyncio.timeout(BOUND):
            await asyncio.gather(
                *(connection.load_session(cwd=str(folder), session_id=task, mcp_servers=[]) for _ in range(3))
            )
        editor.updates.clear()
        assert await ask(connection, task, "second") == "end_turn"
    assert editor.said == "Two."


async def test_two_sessions_run_their_turns_at_once(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="word " * 20, pace=0.05)] * 2) as server,
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, one = await begin(connection, folder)
        other = await connection.new_session(cwd=str(folder), mcp_servers=[])
        ends = await asyncio.gather(*(ask(connection, each.session_id, "go") for each in (one, other)))
    assert ends == ["end_turn", "end_turn"]


@pytest.mark.parametrize(
    "turn", [SLOW, Turn(calls=(WRITE,)), Turn(calls=(SLEEP,))], ids=["a reply", "an approval", "a command"]
)
async def test_a_client_that_leaves_during_a_turn_ends_it(tmp_path: Path, folder: Path, turn: Turn) -> None:
    editor = Editor()
    begun = asyncio.Event()
    if turn.calls and turn.calls[0] is WRITE:
        editor.waits = begun
    async with ModelServer([turn]) as server, connect(editor, tmp_path, *flags(server)) as connection:
        _, session = await begin(connection, folder)
        asked = asyncio.create_task(ask(connection, session.session_id, "go"))
        if editor.waits:
            await begun.wait()
        elif turn.calls:
            await editor.until(lambda: "in_progress" in str(editor.calls()))
        else:
            await editor.until(lambda: editor.said)
        assert editor.process.stdin
        editor.process.stdin.close()
        async with asyncio.timeout(BOUND):
            assert await editor.process.wait() == 0
        asked.cancel()
    log = tmp_path / "home" / "tasks" / session.session_id / "events.jsonl"
    assert ('"turn_ended"' in log.read_text()) is (editor.waits is None)


async def test_a_mode_can_change_during_a_turn_and_a_model_cannot(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    editor.waits = asyncio.Event()
    async with (
        ModelServer(
            [Turn(calls=(WRITE,)), Turn(text="On and on. " * 400, pace=0.1)]
        ) as server,  # what waited is refused
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder)
        task = session.session_id
        asked = asyncio.create_task(ask(connection, task, "go"))
        await editor.waits.wait()
        await connection.set_session_mode(session_id=task, mode_id="plan")
        with pytest.raises(RequestError, match="turn"):
            await connection.set_config_option(session_id=task, config_id="model", value="openai/gpt-5")
        await editor.until(lambda: editor.of(schema.CurrentModeUpdate))
        await connection.cancel(session_id=task)
        assert await asked == "cancelled"
    assert [one.current_mode_id for one in editor.of(schema.CurrentModeUpdate)][-1] == "plan"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no"),
        (b"", "a-bad-task"),
        (b"nonsense\n", "a-bad-task"),
        (b'{"seq":1,"type":"turn_ended"}\n', "a-bad-task"),
    ],
    ids=["missing", "empty", "nonsense", "no beginning"],
)
async def test_a_task_that_cannot_be_loaded_is_an_error_that_says_why(
    tmp_path: Path, folder: Path, content: bytes | None, says: str
) -> None:
    place = tmp_path / "home" / "tasks" / "a-bad-task"
    if content is not None:
        place.mkdir(parents=True)
        (place / "events.jsonl").write_bytes(content)
    async with ModelServer([]) as server, connect(Editor(), tmp_path, *flags(server)) as connection:
        await connection.initialize(1, schema.ClientCapabilities())
        errors = await refuse_all(connection, folder, "a-bad-task")
    assert all(says in str(error).lower() and str(error) != "Internal error" for error in errors), errors


async def test_a_task_whose_middle_is_damaged_is_an_error_that_says_where(tmp_path: Path, folder: Path) -> None:
    async with ModelServer([Turn(text="One.")]) as server:
        async with connect(Editor(), tmp_path, *flags(server)) as connection:
            _, session = await begin(connection, folder)
            await ask(connection, session.session_id, "first")
        log = tmp_path / "home" / "tasks" / session.session_id / "events.jsonl"
        lines = log.read_bytes().splitlines(keepends=True)
        lines[len(lines) // 2] = b"{broken\n"
        log.write_bytes(b"".join(lines))
        async with connect(Editor(), tmp_path, *flags(server)) as connection:
            await connection.initialize(1, schema.ClientCapabilities())
            errors = await refuse_all(connection, folder, session.session_id)
    assert all("damaged" in str(error) for error in errors), errors


async def refuse_all(connection: ClientSideConnection, folder: Path, task: str) -> list[RequestError]:
    """Return the errors of a load, a resume, a fork and a prompt."""
    requests: list[Any] = [
        connection.load_session(cwd=str(folder), session_id=task, mcp_servers=[]),
        connection.resume_session(cwd=str(folder), session_id=task),
        connection.fork_session(cwd=str(folder), session_id=task),
    ]
    async with asyncio.timeout(BOUND):
        found = await asyncio.gather(*requests, return_exceptions=True)
    assert all(isinstance(one, RequestError) for one in found), found
    return [one for one in found if isinstance(one, RequestError)]
