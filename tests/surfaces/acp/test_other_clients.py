import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin, connect, prompt

from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.messages import Text
from halocline.providers.scripted.script import Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.runtime.task_options import Choices

pytestmark = pytest.mark.process
THEIRS = Turn(text="theirs " * 40, pace=0.02)


@asynccontextmanager
async def other_client(root: Path, task: str) -> AsyncIterator[Client]:
    """A client that has joined the task from this process."""
    env = {"HOME": str(root), "HALOCLINE_HOME": str(root / "home"), "PATH": os.environ["PATH"]}
    client = Client(Controller(Assembly.of(Choices(), env)), "other")
    await client.join(task, TaskOptions())
    yield client
    await client.close()


async def test_a_turn_of_another_client_does_not_end_the_prompt_of_an_editor(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="Hello."), THEIRS, Turn(text="Mine.")]) as server,
        connect(editor, tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("hi"))
        async with other_client(tmp_path, session.session_id) as client:
            client.send(cmd.SubmitPrompt(task=session.session_id, content=(Text("yours"),)))
            await editor.until(lambda: "theirs" in editor.said)
            ended = await connection.prompt(session_id=session.session_id, prompt=prompt("mine"))
    assert (ended.stop_reason, editor.said.endswith("Mine.")) == ("end_turn", True)


async def test_a_prompt_that_waits_for_another_client_can_be_cancelled(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    async with (
        ModelServer([Turn(text="Hello."), THEIRS, Turn(text="Next."), Turn(text="Next.")]) as server,
        connect(editor, tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("hi"))
        async with other_client(tmp_path, session.session_id) as client:
            client.send(cmd.SubmitPrompt(task=session.session_id, content=(Text("yours"),)))
            await editor.until(lambda: "theirs" in editor.said)
            waiting = asyncio.create_task(connection.prompt(session_id=session.session_id, prompt=prompt("mine")))
            await asyncio.sleep(0)
            await connection.cancel(session_id=session.session_id)
            assert (await waiting).stop_reason == "cancelled"
            ended = await connection.prompt(session_id=session.session_id, prompt=prompt("next"))
    assert ended.stop_reason == "end_turn"
