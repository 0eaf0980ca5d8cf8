import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from acp import schema
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin, connect, flags, load, prompt

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.script import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.runtime.task_options import Choices
from halocline.surfaces.acp.replay import list_standing
from halocline.surfaces.acp.updates import Updates

TODOS = Call("update_todos", {"todos": [{"text": "Look", "status": "completed"}]})


async def rewind(root: Path, task: str, find: Callable[[list[ev.DurableEvent]], int]) -> None:
    """Rewind a task that no process has open to an event."""
    env = {"HOME": str(root), "HALOCLINE_HOME": str(root / "home"), "PATH": os.environ["PATH"]}
    client = Client(Controller(Assembly.of(Choices(), env)), "other")
    await client.time.go_back(cmd.GoBack(task=task, to=find(client.past(task)), files=False))
    await client.close()


def before_last_prompt(past: list[ev.DurableEvent]) -> int:
    return [event.seq for event in past if isinstance(event, ev.TurnStarted)][-1] - 1


def at_first_call(past: list[ev.DurableEvent]) -> int:
    return next(event.seq for event in past if isinstance(event, ev.ToolCallStarted))


def prompts_of(editor: Editor) -> list[str]:
    return [one.content.text for one in editor.of(schema.UserMessageChunk)]


@pytest.mark.process
async def test_a_loaded_session_shows_the_conversation_without_what_was_rewound(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    second, third = Editor(), Editor()
    turns = [Turn(text="One."), Turn(calls=(TODOS,)), Turn(text="Two."), Turn(text="Three.")]
    async with ModelServer(turns) as server:
        async with connect(Editor(), tmp_path, *flags(server)) as connection:
            _, session = await begin(connection, folder)
            task = session.session_id
            for text in ("first", "second"):
                await connection.prompt(session_id=task, prompt=prompt(text))
        await rewind(tmp_path, task, before_last_prompt)
        async with connect(second, tmp_path, *flags(server)) as connection:
            await load(connection, folder, task)
            assert (prompts_of(second), second.said) == (["first"], "One.")
            assert (second.of(schema.AgentPlanUpdate), second.calls()) == ([], {})
            await connection.prompt(session_id=task, prompt=prompt("third"))
        async with connect(third, tmp_path, *flags(server)) as connection:
            await load(connection, folder, task)
    assert (prompts_of(third), third.said) == (["first", "third"], "One.Three.")


def test_an_end_over_a_failure_is_told_as_a_message() -> None:
    end = ev.TurnEnded(reason=StopReason.END_TURN, failed=("the last edit",))
    (update,) = Updates("/w", lambda image: b"").of(end, prompted=True)
    assert update.content.text.strip() == "The task ended, but the last edit failed."


def test_a_rewind_to_a_point_that_was_rewound_brings_it_back() -> None:
    events = [
        *(ev.CompactionUndone(seq=seq) for seq in range(1, 6)),
        ev.ConversationRestored(to=2, seq=6),
        ev.TaskLabelled(name="A name", seq=7),
        ev.CompactionUndone(seq=8),
        ev.ConversationRestored(to=4, seq=9),
        ev.CompactionUndone(seq=10),
    ]
    assert [event.seq for event in list_standing(events)] == [1, 2, 3, 4, 7, 10]


@pytest.mark.process
async def test_a_call_that_a_rewind_cut_off_has_an_end(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    editor = Editor()
    async with ModelServer([Turn(calls=(TODOS,)), Turn(text="Done.")]) as server:
        async with connect(Editor(), tmp_path, *flags(server)) as connection:
            _, session = await begin(connection, folder)
            await connection.prompt(session_id=session.session_id, prompt=prompt("go"))
        await rewind(tmp_path, session.session_id, at_first_call)
        async with connect(editor, tmp_path, *flags(server)) as connection:
            await load(connection, folder, session.session_id)
    assert [call[-1].status for call in editor.calls().values()] == ["failed"]


@pytest.mark.process
async def test_what_happens_while_a_session_is_loaded_is_shown_once_and_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    first, second = Editor(), Editor()
    steps = [
        Turn(text=f"{number} ", calls=(Call("execute_command", {"command": f"echo {number}"}),)) for number in range(30)
    ]
    async with (
        ModelServer([*steps, Turn(text="end")]) as server,
        connect(first, tmp_path, *flags(server)) as owner,
        connect(second, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(owner, folder)
        running = asyncio.create_task(owner.prompt(session_id=session.session_id, prompt=prompt("go")))
        await first.until(lambda: "5 " in first.said)
        await load(connection, folder, session.session_id)
        await running
        await second.until(lambda: "end" in second.said)
    assert second.said == first.said == "".join(f"{number} " for number in range(30)) + "end"
    starts = [one.tool_call_id for one in second.of(schema.ToolCallStart)]
    assert len(starts) == len(set(starts))


@pytest.mark.process
async def test_a_prompt_of_another_client_is_shown_and_ones_own_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    first, second = Editor(), Editor()
    async with (
        ModelServer([Turn(text="One."), Turn(text="Two.")]) as server,
        connect(first, tmp_path, *flags(server)) as owner,
        connect(second, tmp_path, *flags(server)) as connection,
    ):
        _, session = await begin(owner, folder)
        await load(connection, folder, session.session_id)
        await owner.prompt(session_id=session.session_id, prompt=prompt("from the owner"))
        await second.until(lambda: "One." in second.said)
        await connection.prompt(session_id=session.session_id, prompt=prompt("from the guest"))
        await first.until(lambda: "Two." in first.said)
    assert (prompts_of(first), prompts_of(second)) == (["from the guest"], ["from the owner"])
