"""Clients that others wrote drive the real `halo acp`: acpx, acp-factory, acp-client, and the official SDK."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.servers.model_server import ModelServer
from tests.surfaces.acp import set_up

from halocline.providers.scripted.script import Call, Turn

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(set_up.node() is None, reason=set_up.MISSING),
]
CALLS = (
    Call("write_to_file", {"path": "new.txt", "content": "one\n"}),
    Call("execute_command", {"command": "touch x"}),
)
TURNS = [Turn(text="I'll do it.", calls=CALLS), Turn(text="All done.")]
LIMIT = 120
DENIED = 5
"""Exit code of acpx when a permission was denied."""


def agent(server: ModelServer) -> list[str]:
    return [sys.executable, "-m", "halocline", "acp", "-m", "openai/x", "--base-url", server.url("openai")]


async def run_node(tmp_path: Path, *words: str, cwd: Path) -> str:
    """Run a script in Node; gives what it printed."""
    return await run(tmp_path, str(set_up.node()), *words, cwd=cwd)


async def run(tmp_path: Path, *words: str, cwd: Path) -> str:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HALOCLINE_HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(set_up.python_packages()),
    }
    ran = await asyncio.to_thread(
        subprocess.run, words, cwd=cwd, env=env, capture_output=True, text=True, timeout=LIMIT
    )
    assert ran.returncode in (0, DENIED), ran.stdout + ran.stderr
    return ran.stdout


def said(updates: list[dict[str, Any]], kind: str = "agent_message_chunk") -> str:
    return "".join(one["content"]["text"] for one in updates if one["sessionUpdate"] == kind)


def how_calls_ended(updates: list[dict[str, Any]]) -> dict[str, str]:
    """The last status of each call, by its title."""
    titles = {one["toolCallId"]: one["title"] for one in updates if one["sessionUpdate"] == "tool_call"}
    return {titles[one["toolCallId"]]: one["status"] for one in updates if "toolCallId" in one and "status" in one}


async def run_acpx(tmp_path: Path, folder: Path, server: ModelServer, *words: str) -> list[dict[str, Any]]:
    """Run acpx; gives the messages of both sides."""
    options = ("--agent", " ".join(agent(server)), "--format", "json", *words)
    printed = await run_node(tmp_path, str(set_up.acpx()), *options, cwd=folder)
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


async def test_acpx_approves_and_everything_is_done(tmp_path: Path, folder: Path) -> None:
    async with ModelServer(TURNS) as server:
        messages = await run_acpx(tmp_path, folder, server, "--approve-all", "exec", "do it")
    assert ((folder / "new.txt").read_text(), (folder / "x").exists()) == ("one\n", True)
    assert "fs/write_text_file" in [one.get("method") for one in messages]
    assert '"stopReason": "end_turn"' in json.dumps(messages)


async def test_acpx_denies_and_nothing_is_done(tmp_path: Path, folder: Path) -> None:
    async with ModelServer(TURNS) as server:
        messages = await run_acpx(tmp_path, folder, server, "--deny-all", "exec", "do it")
    assert list(folder.iterdir()) == []
    assert '"stopReason": "end_turn"' in json.dumps(messages)


async def test_the_official_typescript_sdk_takes_part_in_a_whole_turn(tmp_path: Path, folder: Path) -> None:
    script = Path(__file__).with_name("client.mjs")
    async with ModelServer(TURNS) as server:
        printed = await run_node(
            tmp_path, str(script), str(set_up.PLACE), str(folder), "do it", *agent(server), cwd=folder
        )
    found = json.loads(printed)
    assert found["ended"]["stopReason"] == "end_turn"
    assert [one["title"] for one in found["asked"]] == ["Write new.txt", "touch x"]
    for updates in (found["updates"], found["loaded"]):
        said = [one["content"]["text"] for one in updates if one["sessionUpdate"] == "agent_message_chunk"]
        assert "".join(said) == "I'll do it.All done."
    assert [one["content"]["text"] for one in found["loaded"] if one["sessionUpdate"] == "user_message_chunk"] == [
        "do it"
    ]
    assert ((folder / "new.txt").read_text(), found["written"]) == ("one\n", [str(folder / "new.txt")])


async def test_a_client_with_the_schema_of_2025_sees_calls_and_what_it_is_asked(tmp_path: Path, folder: Path) -> None:
    script = Path(__file__).with_name("old_client.mjs")
    async with ModelServer([Turn(calls=(*CALLS, Call("execute_command", {"command": "echo 42"}))), TURNS[1]]) as server:
        words = (str(script), str(set_up.PLACE), str(folder), "do it", *agent(server))
        found = json.loads(await run_node(tmp_path, *words, cwd=folder))
    assert found["ended"]["stopReason"] == "end_turn"
    written, touched = (one["toolCall"] for one in found["asked"])
    assert [one["newText"] for one in written["content"] if one["type"] == "diff"] == ["one\n"]
    assert touched["rawInput"] == {"command": "touch x"}
    calls = [one for one in found["updates"] if one["sessionUpdate"].startswith("tool_call")]
    assert {one["title"] for one in calls if one["sessionUpdate"] == "tool_call"} == {
        "Write new.txt",
        "touch x",
        "echo 42",
    }
    outputs = [one["rawOutput"]["output"] for one in calls if one.get("rawOutput") and one["status"] == "completed"]
    assert [lines[0] for lines in outputs if lines[0] == "42"] == ["42"]


async def test_acpx_takes_up_a_session_of_another_process(tmp_path: Path, folder: Path) -> None:
    async with ModelServer([Turn(text="One."), Turn(text="Two.")]) as server:
        await run_acpx(tmp_path, folder, server, "exec", "first words")
        (listed,) = await run_acpx(tmp_path, folder, server, "sessions", "list")
        (session,) = listed["sessions"]
        again = ("sessions", "new", "--resume-session", session["sessionId"])
        await run_acpx(tmp_path, folder, server, *again)
        messages = await run_acpx(tmp_path, folder, server, "--ttl", "1", "prompt", "more words")
        assert "first words" in str(server.requests[-1])
    assert "session/resume" in [one.get("method") for one in messages]
    assert '"stopReason": "end_turn"' in json.dumps(messages)


READ = Call("read_file", {"path": "a.txt"})
SLOW = Turn(text="Slowly.", calls=(Call("execute_command", {"command": "sleep 60"}),))
STILL = Turn(text="Still here.")


async def test_acp_factory_switches_modes_cancels_forks_and_loads_in_another_process(
    tmp_path: Path, folder: Path
) -> None:
    (folder / "a.txt").write_text("tide\n")
    planned, forked = Turn(text="A plan.", calls=(CALLS[1],)), Turn(text="Forked.")
    turns = [Turn(text="I'll do it.", calls=(READ, *CALLS)), TURNS[1], planned, Turn(text="So."), SLOW, forked, STILL]
    async with ModelServer(turns) as server:
        words = (str(Path(__file__).with_name("factory.mjs")), str(set_up.PLACE), str(folder), *agent(server))
        got = json.loads(await run_node(tmp_path, *words, cwd=folder))
    assert (got["asked"], got["written"]) == (["Write new.txt", "touch x"], [str(folder / "new.txt")])
    assert str(folder / "a.txt") in got["read"]
    assert how_calls_ended(got["turn"]) == {
        "Read a.txt": "completed",
        "Write new.txt": "completed",
        "touch x": "completed",
    }
    assert {"plan", "yolo"} < set(got["modes"])
    assert "plan" in [one.get("currentModeId") for one in got["planned"]]
    # Of updates that come at once, this library may lose one.
    assert "completed" not in [one.get("status") for one in got["planned"]]
    assert (said(got["cancelled"]), how_calls_ended(got["cancelled"])) == ("Slowly.", {"sleep 60": "failed"})
    assert said(got["forked"]) == "Forked."
    assert said(got["after"], "user_message_chunk") == "do itplan itwait"
    assert said(got["after"]) == "I'll do it.All done.A plan.So.Slowly.Still here."


async def test_a_client_without_files_or_sdk_denies_cancels_and_carries_on_in_another_process(
    tmp_path: Path, folder: Path
) -> None:
    (folder / "a.txt").write_text("tide\n")
    async with ModelServer([Turn(text="I'll do it.", calls=(READ, *CALLS)), TURNS[1], SLOW, STILL]) as server:
        script = str(Path(__file__).with_name("small_client.py"))
        got = json.loads(await run(tmp_path, sys.executable, script, str(folder), *agent(server), cwd=folder))
    assert ((folder / "new.txt").read_text(), (folder / "x").exists()) == ("one\n", False)
    calls = {"Read a.txt": "completed", "Write new.txt": "completed", "touch x": "failed"}
    assert how_calls_ended(got["updates"]) == calls
    assert how_calls_ended(got["loaded"]) == calls | {"sleep 60": "failed"}
    assert got["answers"] == ["I'll do it.All done.", "Slowly.", "Still here."]
    assert got["same"]
