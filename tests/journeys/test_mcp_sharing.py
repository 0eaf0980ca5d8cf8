"""Tasks of one process share the servers of their folder, and nothing else of them."""

import asyncio
import json
import sys
from pathlib import Path

import msgspec
import pytest
from tests.journeys.conftest import YOLO, ScriptedAssembly
from tests.journeys.test_mcp import DONE, SERVER, echo, servers as servers, starts

from halocline.hosts.shell.subprocesses import LocalPrograms
from halocline.mcp.connection.pool import Pool
from halocline.mcp.connection.supervisor import Standing
from halocline.ports.mcp import Caller
from halocline.ports.mcp_servers import Server, ServerEntry, ServerOwner
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Text
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.settings.sections import McpSettings
from halocline.store.settings.settings import Settings

THERE = TaskOptions(approval_mode=ApprovalMode.YOLO, attended=True)


async def said(client, task, answer=None) -> list[ev.Event]:
    """One prompt of a task, to the end of its turn."""
    after, events = client.state(task).seq, []
    client.send(cmd.SubmitPrompt(task=task, content=(Text("go"),)))
    async with asyncio.timeout(30):
        async for event in client.events(task, after):
            events.append(event)
            if isinstance(event, ev.QuestionAsked) and answer:
                client.send(cmd.AnswerQuestion(task=task, request=event.request, answer=answer))
            if isinstance(event, ev.TurnEnded):
                return events
    return events


def results(events) -> list[str]:
    return [event.result.text for event in events if isinstance(event, ev.ToolCallEnded)]


async def test_tasks_of_a_folder_share_its_servers_and_the_last_takes_them_along(journey, servers):
    servers(test="child")
    client = journey.client([echo(), DONE, echo(), DONE])
    tasks = [await client.start(journey.workspace, YOLO) for _ in range(5)]
    told = await asyncio.gather(*(said(client, task) for task in tasks))
    assert [results(events) for events in told] == [["hi"]] * 5
    await client.let_go(tasks.pop())
    assert results(await said(client, tasks[0])) == ["hi"]
    assert starts(journey) == 1
    await client.close()
    left = [Path(p, "cmdline") for p in Path("/proc").iterdir() if p.name.isdigit()]
    assert b"sleep\x00987\x00" not in [cmdline.read_bytes() for cmdline in left if cmdline.exists()]


async def test_tasks_of_different_folders_share_nothing(journey, servers, tmp_path):
    servers(test="")
    (tmp_path / "other").mkdir()
    client = journey.client([echo(), DONE])
    tasks = [await client.start(folder, YOLO) for folder in (journey.workspace, tmp_path / "other")]
    await asyncio.gather(*(said(client, task) for task in tasks))
    await client.close()
    assert starts(journey) == 2


async def test_what_a_server_asks_reaches_the_task_whose_call_it_is_at(journey, servers):
    servers(test="asks")
    client = journey.client([echo(), DONE])
    first, second = [await client.start(journey.workspace, THERE) for _ in range(2)]
    one, other = await said(client, first, "blue"), await said(client, second, "red")
    await client.close()
    assert [json.loads(results(events)[0])["content"] for events in (one, other)] == [
        {"colour": "blue"},
        {"colour": "red"},
    ]
    for events, task in ((one, first), (other, second)):
        assert {event.task for event in events if isinstance(event, ev.QuestionAsked)} == {task}


async def test_one_task_that_is_closed_in_a_call_leaves_the_others_theirs(journey, servers):
    servers(test="slow")
    client = journey.client([echo(), DONE])
    first, second = [await client.start(journey.workspace, YOLO) for _ in range(2)]
    running = [asyncio.create_task(said(client, task)) for task in (first, second)]
    async with asyncio.timeout(20):
        while not all(any(call.started for call in client.state(task).pending.calls) for task in (first, second)):
            await asyncio.sleep(0.02)
    client.send(cmd.Interrupt(task=first))
    assert results(await running[1]) == ["hi"]
    await running[0]
    await client.close()


@pytest.fixture
def setup(journey, servers):
    """What the servers of the journey's folder share, and a pool for them with hardly any grace."""
    servers()
    folder = ScriptedAssembly(journey.home, Settings(), [], journey.env).mcp_of(journey.workspace)
    pool = Pool(LocalPrograms({}), grace=0.05)

    def made(told):
        import dataclasses

        return dataclasses.replace(folder.setup(told.append), programs=pool.programs)

    return pool, made


def entry(**more) -> Server:
    given = ServerEntry(command=sys.executable, args=(SERVER,), **more)
    return Server("test", Path("mcp.json"), ServerOwner.USER, given)


async def ready(supervisor) -> None:
    supervisor.begin(anyway=True)
    async with asyncio.timeout(20):
        while supervisor.standing is not Standing.READY:
            await asyncio.sleep(0.02)


async def test_a_server_outlives_its_users_by_a_grace_and_a_new_one_in_it_takes_it_over(setup):
    pool, made = setup
    one, other = made([]), made([])
    server = pool.take(entry(), one)
    await ready(server)
    pool.release(server, one)
    assert pool.take(entry(), other) is server
    await asyncio.sleep(0.2)
    assert server.is_running
    pool.release(server, other)
    async with asyncio.timeout(10):
        while server.is_running:
            await asyncio.sleep(0.02)
    assert pool.take(entry(), one) is not server
    await pool.close()


@pytest.mark.parametrize("more", [{"args": (SERVER, "x")}, {"cwd": "/"}, {"watch": ("a",)}])
async def test_a_server_that_is_set_up_otherwise_is_another(setup, more):
    pool, made = setup
    mine = made([])
    given = ServerEntry(**({"command": sys.executable, "args": (SERVER,)} | more))
    assert pool.take(entry(), mine) is not pool.take(Server("test", Path("x"), ServerOwner.USER, given), mine)
    assert pool.take(entry(timeout=7), mine) is pool.take(entry(), mine)
    assert pool.take(entry(), mine) is not pool.take(
        Server("test", Path("x"), ServerOwner.PROJECT, entry().entry), mine
    )
    await pool.close()


async def test_what_a_server_says_is_told_to_all_who_share_it_and_to_nobody_who_left(setup):
    pool, made = setup
    heard = [], []
    one, other = made(heard[0]), made(heard[1])
    complaining = Server(
        "test", Path("mcp.json"), ServerOwner.USER, ServerEntry(command=sys.executable, args=(SERVER, "complains"))
    )
    server = pool.take(complaining, one)
    assert pool.take(complaining, other) is server
    await ready(server)
    tool = next(tool for tool in server.tools if tool.tool == "echo")
    for text in ("first", "second"):
        await server.call_tool(tool, {"text": text}, Caller("c1", print, nobody))
        pool.release(server, one)
    first, second = (f"The MCP server test says: {text}" for text in ("first", "second"))
    assert heard == ([first], [first, second])
    await pool.close()


async def nobody(question, options):
    return None


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("a__look", "a__look", True),
        ("a__echo", "b__echo", True),
        ("a__echo", "a__echo", False),
        ("a__look", "a__echo", False),
        ("read_file", "a__echo", False),
    ],
)
async def test_calls_run_together_when_they_only_read_or_are_for_different_servers(
    journey, servers, one, other, together
):
    journey.write("x", "x")
    servers(a="slow", b="slow")
    first = Call(one, {"path": "x"} if one == "read_file" else {"text": "x"}, id="c1")
    await journey.run(Turn(calls=(first, Call(other, {"text": "y"}, id="c2"))), DONE)
    kinds = [
        type(event).__name__ for event in journey.events if isinstance(event, ev.ToolCallStarted | ev.ToolCallEnded)
    ]
    assert (kinds[1] == "ToolCallStarted") == together
    assert {status for _, status in journey.ends} == {"completed"}


async def test_tools_that_were_found_run_together_as_well(journey, servers):
    servers(a="many slow", b="many slow")
    calls = [Call("call_mcp_tool", {"tool": f"{name}__tool_7", "arguments": {"text": name}}, id=name) for name in "ab"]
    find = Turn(calls=(Call("find_tools", {"query": "tool 7"}, id="c1"),))
    await journey.run(find, Turn(calls=tuple(calls)), DONE, mcp=McpSettings(wait=20.0, share=0.01))
    kinds = [
        type(event).__name__ for event in journey.events if isinstance(event, ev.ToolCallStarted | ev.ToolCallEnded)
    ]
    assert kinds[2:4] == ["ToolCallStarted", "ToolCallStarted"]
    assert sorted(journey.results[1:]) == ["a", "b"]


def rooted(events) -> tuple[list[str], list[str]]:
    """What a server heard of roots, and which it was told when it asked."""
    found = json.loads(results(events)[0])
    return found["heard"], found["roots"]


async def test_a_server_knows_all_folders_of_a_task_and_hears_when_they_change(journey, servers, tmp_path):
    servers(test="roots")
    one, other = (tmp_path / name for name in ("one", "other"))
    one.mkdir(), other.mkdir()
    client = journey.client([echo(), DONE, echo(), DONE])
    task = await client.start(journey.workspace, msgspec.structs.replace(YOLO, roots=(str(one),)))
    there = [journey.workspace.as_uri(), one.as_uri()]
    assert rooted(await said(client, task)) == ([], there)
    await client.let_go(task)
    await client.resume(task, msgspec.structs.replace(YOLO, roots=(str(other),)))
    assert rooted(await said(client, task)) == (["notifications/roots/list_changed"], [*there, other.as_uri()])
    await client.close()
    assert starts(journey) == 1


async def test_tasks_with_different_folders_at_the_same_time_share_nothing(journey, servers, tmp_path):
    servers(test="roots")
    client = journey.client([echo(), DONE])
    alone = await client.start(journey.workspace, YOLO)
    (tmp_path / "more").mkdir()
    more = await client.start(journey.workspace, msgspec.structs.replace(YOLO, roots=(str(tmp_path / "more"),)))
    here = journey.workspace.as_uri()
    assert rooted(await said(client, more)) == ([], [here, (tmp_path / "more").as_uri()])
    assert rooted(await said(client, alone)) == ([], [here])
    await client.close()
    assert starts(journey) == 2
