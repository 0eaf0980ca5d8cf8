"""Flags that name a task, bound its tools, and give it servers and a worktree."""

import json
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from tests.surfaces.cli.halo_process import Halo, call, shell

pytestmark = [pytest.mark.process, pytest.mark.slow]
DONE = {"text": "Done."}
SERVER = Path(__file__).parents[2] / "mcp" / "server.py"


async def test_a_task_gets_the_id_and_the_name_of_the_caller(halo: Halo) -> None:
    mine = str(uuid4())
    model = halo.script(DONE, DONE)
    assert (await halo.run("-p", "-m", model, "--session-id", mine, "--name", "Nightly", "hi")).code == 0
    assert halo.tasks == [mine]
    assert halo.state(mine).labels.name == "Nightly"
    assert (await halo.run("-p", "-r", mine[:8], "more")).out == "Done.\n"
    again = await halo.run("-p", "-m", model, "--session-id", mine, "hi")
    assert (again.code, f"halo -r {mine}" in again.err) == (2, True)


@pytest.mark.parametrize("bad", ["../x", "a/b", ".x", "a b", "x" * 65, "-"])
async def test_an_id_is_no_path(halo: Halo, bad: str) -> None:
    done = await halo.run("-p", "-m", halo.script(DONE), f"--session-id={bad}", "hi")
    assert (done.code, "cannot be the ID of a task" in done.err, halo.tasks) == (2, True, [])


async def test_an_id_is_for_a_new_task(halo: Halo) -> None:
    await halo.run("-p", "-m", halo.script(DONE), "hi")
    done = await halo.run("-p", "-c", "--session-id", "x", "hi")
    assert (done.code, "are for new tasks" in done.err) == (2, True)


async def test_tools_are_allowed_and_refused(halo: Halo) -> None:
    calls = {"call": [shell("touch made"), shell("touch other"), shell("mkdir folder")]}
    words = ("--allowed-tools", "Bash(touch:*)", "--disallowedTools", "Bash(touch other)")
    done = await halo.run("-p", "--output-format", "json", "-m", halo.script(calls, DONE), *words, "hi")
    assert sorted(path.name for path in halo.folder.iterdir()) == ["made"]
    assert [(one["call"], one["rule"]) for one in done.result["refused"]] == [
        ("touch other", "disallowed-tools"),
        ("mkdir folder", "mode-ask"),
    ]


async def test_a_tool_that_is_refused_as_a_whole_is_not_offered(halo: Halo) -> None:
    from tests.servers.model_server import ModelServer, Turn
    from tests.surfaces.cli.halo_process import asks

    async with ModelServer([Turn(text="Done.")]) as server:
        done = await halo.run("-p", *asks(server), "--disallowed-tools", "Bash,Edit", "hi")
        offered = {tool["function"]["name"] for tool in server.requests[0].body["tools"]}
    assert done.code == 0, done.err
    assert "read_file" in offered
    assert not offered & {"execute_command", "job", "replace_in_file", "write_to_file", "apply_patch"}


async def test_a_pattern_that_is_no_rule_starts_nothing(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script(DONE), "--allowed-tools", "Bash(git * main)", "hi")
    assert (done.code, "cannot be expressed exactly" in done.err, halo.tasks) == (2, True, [])


@pytest.mark.parametrize("how", ["file", "text"])
async def test_servers_are_given_for_a_run(halo: Halo, how: str) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text("[mcp]\nwait = 20\n")
    config = json.dumps({"mcpServers": {"test": {"command": sys.executable, "args": [str(SERVER)]}}})
    if how == "file":
        (halo.root / "servers.json").write_text(config)
        config = str(halo.root / "servers.json")
    asked = {"call": [call("test__echo", text="hello")]}
    words = ("--mcp-config", config, "--allowed-tools", "mcp__test__echo")
    done = await halo.run("-p", "--output-format", "stream-json", "-m", halo.script(asked, DONE), *words, "hi")
    ended = next(line for line in done.lines if line["type"] == "tool_call_ended")
    assert ended["status"] == "completed", ended
    assert not (halo.home / "mcp.json").exists()


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("nope.json", "--mcp-config: there is no file nope.json"),
        ("{", "Cannot read --mcp-config"),
        ("{}", "names no MCP server"),
        ('{"mcpServers": {"a": {}}}', "it needs a command or a url"),
        ('{"mcpServers": {"a//b": {"command": "x"}}}', "beside each slash"),
        ('{"mcpServers": 1}', "is not an object"),
    ],
)
async def test_a_wrong_list_of_servers_starts_nothing(halo: Halo, config: str, said: str) -> None:
    done = await halo.run("-p", "-m", halo.script(DONE), "--mcp-config", config, "hi")
    assert (done.code, said in done.err, halo.tasks) == (2, True, []), done.err


def repository(halo: Halo) -> None:
    (halo.folder / "sub").mkdir()
    (halo.folder / "sub" / "a.txt").write_text("a\n")
    for words in ("init -qb main", "add .", "-c user.name=x -c user.email=x@y commit -qm Start"):
        subprocess.run(["git", *words.split()], cwd=halo.folder, env=halo.env, check=True)


async def test_a_worktree_is_added_and_found_again(halo: Halo) -> None:
    repository(halo)
    write = {"call": [call("write_to_file", path="made.txt", content="x\n")]}
    model = halo.script(write, DONE)
    done = await halo.run("-p", "-y", "-m", model, "--worktree", "fix", "-C", "sub", "hi")
    place = halo.root / "project-worktrees" / "fix"
    assert (done.code, (place / "sub" / "made.txt").exists()) == (0, True), done.err
    assert (place / "sub" / "a.txt").read_text() == "a\n"
    assert f"Working in {place / 'sub'}, on the branch worktree-fix" in done.err
    assert halo.state().workspace == str(place / "sub")
    assert not (halo.folder / "sub" / "made.txt").exists()
    again = await halo.run("-p", "-m", halo.script(DONE), "--worktree=fix", "hi")
    assert (again.code, len(list(place.parent.iterdir()))) == (0, 1), again.err


async def test_a_worktree_without_a_name_gets_one(halo: Halo) -> None:
    repository(halo)
    done = await halo.run("-p", "-m", halo.script(DONE), "-w", "--", "hi")
    assert (done.code, len(list((halo.root / "project-worktrees").iterdir()))) == (0, 1), done.err


async def test_a_worktree_runs_no_program_that_the_repository_names(halo: Halo) -> None:
    repository(halo)
    hook = halo.folder / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {halo.root}/hooked\n")
    hook.chmod(0o755)
    assert (await halo.run("-p", "-m", halo.script(DONE), "-w", "one", "--", "hi")).code == 0
    assert not (halo.root / "hooked").exists()
    smudge = f"touch {halo.root}/smudged; cat"
    subprocess.run(["git", "config", "filter.x.smudge", smudge], cwd=halo.folder, env=halo.env, check=True)
    done = await halo.run("-p", "-m", halo.script(DONE), "-w", "two", "--", "hi")
    assert (done.code, "filter.x.smudge" in done.err) == (2, True)
    assert not (halo.root / "smudged").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [(("-w", "no repository"), "is not a name"), (("-w", "x"), "Start without --worktree")],
)
async def test_a_worktree_needs_a_name_and_a_repository(halo: Halo, words: tuple[str, ...], said: str) -> None:
    done = await halo.run("-p", "-m", halo.script(DONE), *words, "--", "hi")
    assert (done.code, said in done.err, halo.tasks) == (2, True, []), done.err


@pytest.mark.parametrize("how", [("-p", "hi"), ("-p", "--input-format", "stream-json")], ids=" ".join)
async def test_an_ephemeral_task_is_gone_after_its_run(halo: Halo, how: tuple[str, ...]) -> None:
    line = b'{"type":"user","message":{"role":"user","content":"hi"}}\n'
    done = await halo.run("--ephemeral", "-m", halo.script(DONE), *how, stdin=line if len(how) > 2 else None)
    assert (done.code, "Done." in done.out, halo.tasks) == (0, True, [])


async def test_only_a_task_of_one_run_is_ephemeral(halo: Halo) -> None:
    done = await halo.run("--ephemeral", "-m", halo.script(DONE), "hi")
    assert (done.code, "with -p" in done.err, halo.tasks) == (2, True, [])


async def test_tasks_are_found_by_either_name_of_their_end(halo: Halo) -> None:
    await halo.run("-p", "-m", halo.script(DONE), "hi")
    for status, found in (("done", 1), ("end_turn", 1), ("failed", 0)):
        assert len((await halo.run("tasks", "--json", "--status", status)).lines) == found


@pytest.mark.parametrize("how", [("-p", "hi"), ("-p", "--input-format", "stream-json")], ids=" ".join)
async def test_a_debug_log_has_all_events_with_their_times(halo: Halo, how: tuple[str, ...]) -> None:
    line = b'{"type":"user","message":{"role":"user","content":"hi"}}\n'
    log = halo.root / "debug.log"
    stdin = line if len(how) > 2 else None
    await halo.run("--debug", str(log), "-m", halo.script(DONE), *how, stdin=stdin)
    head, *lines = log.read_text().splitlines()
    assert head.startswith("halo ")
    types = [json.loads(line[10:])["type"] for line in lines]
    assert {"task_started", "text_delta", "turn_ended"} <= {*types}
    assert [float(line[:9]) for line in lines] == sorted(float(line[:9]) for line in lines)
    assert log.stat().st_mode & 0o777 == 0o600


async def test_a_debug_log_has_the_trace_of_an_error(halo: Halo) -> None:
    log = halo.root / "debug.log"
    log.touch(0o644)
    assert (await halo.run("-p", "--debug", str(log), "-m", "nobody/x", "hi")).code == 2
    assert log.stat().st_mode & 0o777 == 0o600
    assert "Traceback" in log.read_text()
    done = await halo.run("-p", "--debug", str(halo.root / "no" / "x"), "-m", halo.script(DONE), "hi")
    assert (done.code, "Choose another file for --debug" in done.err) == (2, True)
