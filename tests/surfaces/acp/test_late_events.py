import asyncio
import base64
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from acp import schema
from acp.core import ClientSideConnection
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin, connect, prompt
from tests.surfaces.acp.test_other_clients import other_client
from tests.surfaces.acp.test_tasks_of_other_processes import ask
from tests.surfaces.cli.test_halo_mentions import png

from halocline.client.options import TaskOptions
from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.providers.scripted.script import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.runtime.task_options import Choices
from halocline.surfaces.acp.successor import open_successor
from halocline.task.lock import give_back, take_lock

pytestmark = pytest.mark.process
HELD = (sys.executable, str(Path(__file__).with_name("held_agent.py")))
HAND_OVER = Turn(calls=(Call("new_task", {"context": "Write the docs."}),))
SLOW = Turn(text="slow " * 20_000, pace=0.05)


@asynccontextmanager
async def held_agent(root: Path, folder: Path, *turns: Turn) -> AsyncIterator[tuple[Editor, ClientSideConnection, str]]:
    """An editor whose agent holds interrupts and successors back until the file `go` is there."""
    editor = Editor()
    async with ModelServer([*turns]) as server, connect(editor, root, server.url("openai"), program=HELD) as connection:
        _, session = await begin(connection, folder)
        yield editor, connection, session.session_id


async def is_there(file: Path) -> None:
    while not file.exists():
        await asyncio.sleep(0.01)


async def test_a_cancel_that_arrives_after_its_turn_leaves_the_next_prompt_alone(tmp_path: Path, folder: Path) -> None:
    turns = Turn(text="first " * 20, pace=0.02), Turn(text="next " * 20, pace=0.05)
    async with held_agent(tmp_path, folder, *turns) as (editor, connection, task):
        first = asyncio.create_task(ask(connection, task, "first"))
        await editor.until(lambda: "first" in editor.said)
        await connection.cancel(session_id=task)
        assert await first == "end_turn"
        following = asyncio.create_task(ask(connection, task, "next"))
        await editor.until(lambda: "next" in editor.said)
        (tmp_path / "go").touch()
        assert await following == "end_turn"


async def test_a_cancel_while_work_is_handed_over_ends_the_turn_that_continues_it(tmp_path: Path, folder: Path) -> None:
    async with held_agent(tmp_path, folder, HAND_OVER, SLOW, Turn(text="Next.")) as (editor, connection, task):
        asked = asyncio.create_task(ask(connection, task, "/newtask"))
        await is_there(tmp_path / "holds")
        await connection.cancel(session_id=task)
        assert await asked == "cancelled"
        waits = asyncio.create_task(ask(connection, task, "next"))
        (tmp_path / "go").touch()
        assert await waits == "end_turn"
        assert editor.said.endswith("Next.")


async def test_a_cancel_while_a_prompt_is_read_cancels_that_prompt(tmp_path: Path, folder: Path) -> None:
    image = schema.ImageContentBlock(data=base64.b64encode(png()).decode(), mime_type="image/png", type="image")
    async with held_agent(tmp_path, folder, Turn(text="Next.")) as (editor, connection, task):
        asked = asyncio.create_task(connection.prompt(session_id=task, prompt=[*prompt("look"), image]))
        await is_there(tmp_path / "holds")
        await connection.cancel(session_id=task)
        await connection.list_sessions()  # Its answer says that the agent has read the cancel, too.
        (tmp_path / "go").touch()
        assert (await asked).stop_reason == "cancelled"
        assert await ask(connection, task, "next") == "end_turn"
        assert editor.said == "Next."


async def test_a_task_whose_process_is_just_starting_it_is_joined_once_it_has_begun(
    tmp_path: Path, folder: Path
) -> None:
    async with ModelServer([]) as server:
        env = {"HOME": str(tmp_path), "HALOCLINE_HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
        choices = Choices(base_url=server.url("openai"))
        owner = Client(Controller(Assembly.of(choices, env)), "owner")
        old = await owner.start(folder, TaskOptions(model="openai/x"))
        new = f"{old}-next"
        async with other_client(tmp_path, old) as guest:
            owner.home.task(new).mkdir()
            held = take_lock(owner.home.task(new), new)
            opening = open_successor(guest, old, ev.HandedOver(to=new, context="Go on."), TaskOptions(), "")
            joining = asyncio.create_task(opening)
            await asyncio.wait({joining}, timeout=0.3)
            assert not joining.done()
            give_back(held)
            await owner.start(folder, TaskOptions(model="openai/x"), new)
            await joining
            assert guest.is_attached(new)
        await owner.close()
