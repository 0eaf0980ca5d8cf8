import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from acp import RequestError
from acp.core import ClientSideConnection
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import HALO, Editor, ask, begin, connect, flags, load, prompt

from halocline.providers.scripted.script import Call, Turn

pytestmark = pytest.mark.process
OLD = (sys.executable, str(Path(__file__).with_name("old_version.py")))
SLOW = Turn(text="slow " * 20_000, pace=0.05)
"""Seconds within which every prompt has to end here."""


def environment(root: Path) -> dict[str, str]:
    return {"HOME": str(root), "HALOCLINE_HOME": str(root / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


@asynccontextmanager
async def own_task(
    root: Path, folder: Path, server: ModelServer, version: str
) -> AsyncIterator[tuple[ClientSideConnection, str]]:
    """An editor whose agent, of this version or an older one, has a task open."""
    old = version == "old"
    words = (server.url("openai"),) if old else flags(server)
    async with connect(Editor(), root, *words, program=OLD if old else HALO) as owner:
        _, session = await begin(owner, folder)
        yield owner, session.session_id


@pytest.mark.parametrize("version", ["same", "old"])
@pytest.mark.parametrize("text", ["mine", "/init mine"])
async def test_a_prompt_runs_in_the_process_that_has_the_task_open(
    tmp_path: Path, folder: Path, version: str, text: str
) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="Yours."), Turn(text="Mine."), Turn(text="Next.")]) as server,
        own_task(tmp_path, folder, server, version) as (owner, task),
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        theirs = asyncio.create_task(owner.prompt(session_id=task, prompt=prompt("yours")))
        await load(connection, folder, task)
        await editor.until(lambda: "Yours." in editor.said)
        assert await ask(connection, task, text) == "end_turn"
        assert editor.said == "Yours.Mine."
        assert await ask(connection, task, "next") == "end_turn"
        assert editor.said == "Yours.Mine.Next."
        theirs.cancel()


@pytest.mark.parametrize("version", ["same", "old"])
async def test_a_prompt_behind_a_turn_of_the_owner_ends_with_its_own_turn(
    tmp_path: Path, folder: Path, version: str
) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="yours " * 40, pace=0.02), Turn(text="Mine.")]) as server,
        own_task(tmp_path, folder, server, version) as (owner, task),
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        theirs = asyncio.create_task(owner.prompt(session_id=task, prompt=prompt("yours")))
        await load(connection, folder, task)
        assert await ask(connection, task, "mine") == "end_turn"
        theirs.cancel()
    assert editor.said.endswith("Mine.")


async def test_a_prompt_whose_process_is_killed_ends_with_an_error_and_the_next_runs_here(
    tmp_path: Path, folder: Path
) -> None:
    first, second = Editor(), Editor()
    async with (
        ModelServer([SLOW, Turn(text="Next.")]) as server,
        connect(first, tmp_path, *flags(server)) as owner,
        connect(second, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(owner, folder)
        await load(connection, folder, session.session_id)
        asked = asyncio.create_task(ask(connection, session.session_id, "mine"))
        await second.until(lambda: "slow" in second.said)
        first.process.kill()
        assert "process" in await asked
        assert await ask(connection, session.session_id, "next") == "end_turn"
    assert second.said.endswith("Next.")


async def test_an_editor_that_cannot_take_over_gets_the_reason(tmp_path: Path, folder: Path) -> None:
    first, second = Editor(), Editor()
    async with (
        ModelServer([SLOW]) as server,
        connect(first, tmp_path, *flags(server)) as owner,
        connect(second, tmp_path) as connection,
    ):
        _, session = await begin(owner, folder)
        await load(connection, folder, session.session_id)
        asked = asyncio.create_task(ask(connection, session.session_id, "mine"))
        await second.until(lambda: "slow" in second.said)
        first.process.kill()
        for ended in (await asked, await ask(connection, session.session_id, "next")):
            assert f"used openai/x at {server.url('openai')}" in ended


async def test_a_prompt_that_waits_in_a_process_that_is_killed_runs_here(tmp_path: Path, folder: Path) -> None:
    first, second = Editor(), Editor()
    async with (
        ModelServer([SLOW, Turn(text="Mine.")]) as server,
        connect(first, tmp_path, *flags(server)) as owner,
        connect(second, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(owner, folder)
        theirs = asyncio.create_task(owner.prompt(session_id=session.session_id, prompt=prompt("yours")))
        await first.until(lambda: "slow" in first.said)
        await load(connection, folder, session.session_id)
        asked = asyncio.create_task(ask(connection, session.session_id, "mine"))
        await asyncio.sleep(0.5)
        first.process.kill()
        await asyncio.gather(theirs, return_exceptions=True)
        assert await asked == "end_turn"
    assert second.said.endswith("Mine.")


async def test_a_prompt_to_a_run_that_takes_no_more_runs_here_when_it_has_ended(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with ModelServer([Turn(text="yours " * 60, pace=0.05), Turn(text="Mine.")]) as server:
        words = (sys.executable, "-m", "halocline", "run", *flags(server), "--session-id", "a-headless-run", "yours")
        run = await asyncio.create_subprocess_exec(
            *words, cwd=folder, env=environment(tmp_path), stdin=-3, stdout=-3, stderr=-3
        )
        async with connect(editor, tmp_path, *flags(server)) as connection:
            await server.received()
            await load(connection, folder, "a-headless-run")
            assert await ask(connection, "a-headless-run", "mine") == "end_turn"
        await run.wait()
    assert editor.said.endswith("Mine.")


@pytest.mark.slow
async def test_a_process_that_does_not_answer_is_an_error_in_bounded_time(tmp_path: Path, folder: Path) -> None:
    first, second = Editor(), Editor()
    async with (
        ModelServer([SLOW, Turn(text="Mine.")]) as server,
        connect(first, tmp_path, *flags(server)) as owner,
        connect(second, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(owner, folder)
        await load(connection, folder, session.session_id)
        first.process.send_signal(signal.SIGSTOP)
        try:
            assert "does not answer" in await ask(connection, session.session_id, "mine")
        finally:
            first.process.send_signal(signal.SIGCONT)


@pytest.mark.slow
async def test_a_turn_in_a_process_that_hangs_can_be_cancelled(tmp_path: Path, folder: Path) -> None:
    first, second = Editor(), Editor()
    async with (
        ModelServer([SLOW]) as server,
        connect(first, tmp_path, *flags(server)) as owner,
        connect(second, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(owner, folder)
        await load(connection, folder, session.session_id)
        asked = asyncio.create_task(ask(connection, session.session_id, "mine"))
        await second.until(lambda: "slow" in second.said)
        first.process.send_signal(signal.SIGSTOP)
        try:
            await connection.cancel(session_id=session.session_id)
            assert "does not answer" in await asked
        finally:
            first.process.send_signal(signal.SIGCONT)


async def test_what_the_other_process_refuses_is_an_error(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="Mine.")]) as server,
        own_task(tmp_path, folder, server, "same") as (_, task),
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        await load(connection, folder, task)
        assert "MCP" in await ask(connection, task, "/mcp:none:nothing")
        with pytest.raises(RequestError, match="reduces approvals"):
            await connection.set_session_mode(session_id=task, mode_id="yolo")
        assert await ask(connection, task, "mine") == "end_turn"


async def test_a_question_asked_in_another_process_is_answered_from_the_editor(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    questions = Call("ask_followup_question", {"question": "Which name?"})
    async with (
        ModelServer([Turn(calls=(questions,)), Turn(text="Hello Ada.")]) as server,
        own_task(tmp_path, folder, server, "old") as (_, task),
        connect(editor, tmp_path, *flags(server)) as connection,
    ):
        await load(connection, folder, task)
        assert await ask(connection, task, "greet") == "end_turn"
        assert await ask(connection, task, "Ada") == "end_turn"
    assert editor.said.endswith("Hello Ada.")


@pytest.mark.parametrize("asks", ["owner", "guest"])
async def test_work_that_is_handed_over_goes_on_for_the_owner_and_for_the_guest(
    tmp_path: Path, folder: Path, asks: str
) -> None:
    first, second = Editor(), Editor()
    hand_over = Turn(calls=(Call("new_task", {"context": "Write the docs."}),))
    async with (
        ModelServer([hand_over, Turn(text="Written."), Turn(text="More."), Turn(text="More.")]) as server,
        connect(first, tmp_path, *flags(server)) as owner,
        connect(second, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(owner, folder)
        task = session.session_id
        await load(connection, folder, task)
        assert await ask(owner if asks == "owner" else connection, task, "/newtask") == "end_turn"
        for editor in (first, second):
            await editor.until(lambda editor=editor: "Written." in editor.said)
        for each in (connection, owner):
            assert await ask(each, task, "more") == "end_turn"
        assert len(list((tmp_path / "home" / "tasks").glob("*/events.jsonl"))) == 2
        for editor in (first, second):
            await editor.until(lambda editor=editor: editor.said == "Written.More.More.")
