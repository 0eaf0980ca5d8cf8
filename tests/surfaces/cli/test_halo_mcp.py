"""`halo mcp` as a person and as another agent use it: the real command, real servers."""

import hashlib
import json
import os
import sys
import zipfile
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.mcp.http import serving
from tests.surfaces.cli.halo_process import HALO

from halocline.protocol.events import McpOffered, StepStarted, TurnStarted

SERVER = str(Path(__file__).parents[2] / "mcp" / "server.py")


async def add(halo, name="test", *how):
    done = await halo.run("mcp", "add", name, "--", sys.executable, SERVER, *how)
    assert done.code == 0, done.err


@pytest.mark.slow
async def test_a_run_says_for_which_server_of_its_command_line_it_waits_and_not_for_ever(halo):
    config = json.dumps({"mcpServers": {"slow": {"command": "sleep", "args": ["60"], "startTimeout": 4}}})
    model = halo.script({"text": "Hello."})
    done = await halo.run("run", "-m", model, "--mcp-config", config, "hi")
    assert (done.code, "Hello." in done.out) == (0, True)
    assert "Waiting for the MCP server slow, which may take 4 s to start" in done.out + done.err


@pytest.mark.slow
async def test_a_run_without_a_person_has_the_tools_of_a_server_that_starts_slowly(halo):
    server = {"command": "sh", "args": ["-c", f"sleep 3; exec {sys.executable} {SERVER}"]}
    halo.home.mkdir()
    (halo.home / "mcp.json").write_text(json.dumps({"mcpServers": {"test": server}}))
    model = halo.script({"text": "Hello."})
    assert (await halo.run("run", "-p", "-m", model, "hi")).code == 0
    events = halo.log()
    (offered,) = [at for at, event in enumerate(events) if isinstance(event, McpOffered) and event.server.tools]
    assert offered < next(at for at, event in enumerate(events) if isinstance(event, StepStarted))


STARTS = {
    "plain": ("", 0),
    "late": ("", 3),
    "later": ("", 5),
    "slow": ("slow", 0),
    "both": ("slow noise", 2),
    "old": ("old", 0),
    "older": ("old slow", 1),
    "noisy": ("noise", 0),
    "wordy": ("instructions strange", 1),
    "large": ("many pages", 0),
    "odd": ("crooked", 1),
}
"""How servers start that a run has to wait for: with which behaviour, after how many seconds."""
NEVER = {"dead": "dies", "absent": "", "mute": "never"}


@pytest.mark.slow
async def test_a_run_waits_for_every_server_of_its_command_line_however_it_starts(halo):
    entries = {
        name: {"command": "sh", "args": ["-c", f"sleep {seconds}; exec {sys.executable} {SERVER} {how}"]}
        for name, (how, seconds) in STARTS.items()
    }
    never = {name: {"command": sys.executable, "args": [SERVER, how]} for name, how in NEVER.items()}
    never["absent"]["command"] = "no-such-program"
    limits = [{"startTimeout": 90}] * len(entries) + [{"startTimeout": 12}] * len(never)
    config = {name: entry | more for (name, entry), more in zip((entries | never).items(), limits, strict=True)}
    model = halo.script({"text": "Hello."})
    done = await halo.run("run", "-p", "-m", model, "--mcp-config", json.dumps({"mcpServers": config}), "hi")
    assert done.code == 0, done.err
    events = halo.log()
    asked = next(at for at, event in enumerate(events) if isinstance(event, StepStarted))
    offered = {event.server.name for event in events[:asked] if isinstance(event, McpOffered) and event.server.tools}
    assert offered == set(STARTS)
    assert all(f"The MCP server {name} is not available" in done.out + done.err for name in NEVER)


async def test_seconds_to_start_are_set_before_the_name_and_what_stands_behind_the_command_is_its_own(halo):
    done = await halo.run("mcp", "add", "--start-timeout", "5", "slow", "sleep", "60", "--timeout", "7")
    entry = json.loads((halo.home / "mcp.json").read_text())["mcpServers"]["slow"]
    assert (entry["startTimeout"], entry["args"]) == (5.0, ["60", "--timeout", "7"])
    assert "--timeout goes to sleep" in done.err


async def test_a_server_is_added_tried_listed_switched_and_removed(halo):
    await add(halo)
    tried = await halo.run("mcp", "test", "test")
    assert "✓ test: 2 tools, about 42 tokens, protocol 2025-11-25" in tried.out
    assert "look (read-only, it claims)  Looks." in tried.out
    listed = await halo.run("mcp", "list")
    assert "test  stdio  on  2 tools, about 42 tokens  (yours)" in listed.out
    assert "    ask    echo, look\n" in listed.out
    assert (await halo.run("mcp", "disable", "test")).out == "test is disabled.\n"
    assert "test  stdio  off" in (await halo.run("mcp", "list")).out
    assert (await halo.run("mcp", "enable", "test")).out == "test is enabled.\n"
    assert "Removed test from" in (await halo.run("mcp", "remove", "test")).out
    assert "No MCP servers." in (await halo.run("mcp", "list")).out


async def test_a_prompt_of_a_server_is_a_word_of_a_run(halo):
    await add(halo)
    done = await halo.run("run", "-m", halo.script({"text": "Hello."}), "/mcp:test:greet the world")
    assert (done.code, "The prompt /mcp:test:greet, from an MCP server." in done.out + done.err) == (0, True)
    (started,) = [event for event in halo.log() if isinstance(event, TurnStarted)]
    assert [part.text.splitlines()[-1] for part in started.content[:2]] == [
        "Greet the world.",
        "/mcp:test:greet the world",
    ]
    wrong = await halo.run("run", "-m", halo.script({"text": "Hello."}), "/mcp:test:great")
    assert (wrong.code, "The prompts are: /mcp:test:greet." in wrong.err) == (2, True)
    assert len(halo.tasks) == 1


async def test_what_would_be_decided_of_a_tool_is_told_and_why(halo):
    await add(halo)
    ask = ("policy", "explain", "--json", "--mcp")
    unseen = json.loads((await halo.run(*ask, "test/echo")).out)
    assert (unseen["decision"], "halo mcp test test" in unseen["reason"]) == ("ask", True)
    await halo.run("mcp", "test", "test")
    file = halo.home / "mcp.json"
    settings = json.loads(file.read_text())
    settings["mcpServers"]["test"]["autoApprove"] = ["echo"]
    file.write_text(json.dumps(settings))
    allowed, looks = [json.loads((await halo.run(*ask, f"test/{tool}")).out) for tool in ("echo", "look")]
    assert (allowed["decision"], allowed["rule"]) == ("allow", "mcp.autoApprove")
    assert looks["decision"] == "ask"
    planned = [json.loads((await halo.run(*ask, f"test/{tool}", "--mode", "plan")).out) for tool in ("echo", "look")]
    assert [each["decision"] for each in planned] == ["deny", "ask"]
    listed = json.loads((await halo.run("mcp", "list", "--json")).out)
    assert listed["decisions"] == {"echo": "allow", "look": "ask"}
    nobody = await halo.run(*ask, "nobody/echo")
    assert (nobody.code, "The servers are: test." in nobody.err) == (2, True)


async def test_a_file_keeps_what_is_not_ours_when_a_server_is_added(halo):
    halo.home.mkdir()
    theirs = {"inputs": [1], "mcpServers": {"old": {"command": "x", "note": "mine"}}}
    (halo.home / "mcp.json").write_text(json.dumps(theirs))
    await add(halo)
    written = json.loads((halo.home / "mcp.json").read_text())
    assert written["inputs"] == [1]
    assert written["mcpServers"]["old"] == {"command": "x", "note": "mine"}


async def test_a_server_that_fails_says_why_and_where_more_is(halo):
    await add(halo, "test", "dies")
    tried = await halo.run("mcp", "test", "test")
    assert tried.code == 1
    assert "✗ test: it exited with code 4; its last output: no key was given" in tried.out
    assert "no key was given" in (await halo.run("mcp", "logs", "test")).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("test", "nobody"), "There is no MCP server 'nobody'."),
        (("add", "x"), "No command or URL."),
        (("add", "a//b", "--", "x"), "'a//b' is not a valid server name"),
        (("add", "x", "--env", "novalue", "--", "y"), "'novalue' is not NAME=VALUE."),
        (("add", "x", "--type", "smoke", "--", "y"), "unknown type 'smoke'"),
        (("login", "nobody"), "There is no MCP server 'nobody'."),
    ],
)
async def test_a_mistake_is_told_in_words(halo, words, said):
    done = await halo.run("mcp", *words)
    assert done.code == 2
    assert said in done.err


async def test_what_is_installed_is_shown_and_agreed_to_before_it_is_written(halo):
    package = {"registryType": "pypi", "identifier": "fs", "version": "1", "transport": {"type": "stdio"}}
    server = {"name": "io.x/fs", "description": "Files.", "version": "1", "packages": [package]}
    (halo.root / "catalogue.json").write_text(json.dumps({"servers": [{"server": server}]}))
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text(f'[mcp]\nregistry = "{halo.root}/catalogue.json"\n')
    assert "io.x/fs  1" in (await halo.run("mcp", "search", "files")).out
    alone = await halo.run("mcp", "install", "fs")
    assert "1. run uvx fs@1" in alone.out
    assert "Installing needs your confirmation." in alone.err
    assert not (halo.home / "mcp.json").exists()
    agreed = await halo.run("mcp", "install", "fs", "--yes")
    assert agreed.code == 0
    assert json.loads((halo.home / "mcp.json").read_text())["mcpServers"] == {
        "fs": {"command": "uvx", "args": ["fs@1"]}
    }


async def test_a_bundle_is_shown_installed_used_and_removed_with_its_files(halo):
    config = {
        "command": sys.executable,
        "args": ["${__dirname}/server.py", "${user_config.how}"],
        "env": {"KEY": "${user_config.key}"},
    }
    wishes = {
        "how": {"type": "string", "default": "noise"},
        "key": {"type": "string", "sensitive": True, "required": True},
    }
    manifest = {"name": "a server", "version": "2", "server": {"mcp_config": config}, "user_config": wishes}
    with zipfile.ZipFile(halo.root / "a.mcpb", "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.write(SERVER, "server.py")
    file, folder = str(halo.root / "a.mcpb"), halo.home / "mcp" / "a-server"
    lacks = await halo.run("mcp", "install", file)
    assert (lacks.code, "The bundle needs key." in lacks.err, "--set key=VALUE" in lacks.err) == (2, True, True)
    alone = await halo.run("mcp", "install", file, "--set", "key=s3cret")
    assert f"{folder}/server.py noise with KEY=••••" in alone.out
    assert "Installing needs your confirmation." in alone.err
    assert "s3cret" not in alone.out + alone.err
    assert not folder.exists()
    agreed = await halo.run("mcp", "install", file, "--set", "key=s3cret", "--yes")
    assert (agreed.code, agreed.err) == (0, "")
    assert "✓ a-server: 2 tools" in (await halo.run("mcp", "test", "a-server")).out
    again = await halo.run("mcp", "install", file, "--set", "key=k", "--yes")
    assert (again.code, "There is already a server a-server." in again.err) == (2, True)
    assert (await halo.run("mcp", "remove", "a-server")).code == 0
    assert not folder.exists()


async def test_a_bundle_over_plain_http_is_taken_only_by_its_hash(halo):
    manifest = {"name": "fs", "version": "2", "server": {"mcp_config": {"command": sys.executable, "args": []}}}
    with zipfile.ZipFile(halo.root / "a.mcpb", "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
    data, asked = (halo.root / "a.mcpb").read_bytes(), []

    async def app(scope, receive, send):
        if scope["type"] == "http":
            asked.append(scope["path"])
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": data})

    async with serving(app) as url:
        words = ("mcp", "install", f"{url}/a.mcpb", "--yes")
        bare = await halo.run(*words)
        assert (bare.code, "plain http" in bare.err, "--sha256" in bare.err, asked) == (2, True, True, [])
        wrong = await halo.run(*words, "--sha256", "0" * 64)
        assert (wrong.code, "does not match the expected hash" in wrong.err) == (2, True)
        right = await halo.run(*words, "--sha256", hashlib.sha256(data).hexdigest().upper())
        assert (right.code, right.err) == (0, "")


async def test_a_server_of_a_loopback_registry_is_shown_installed_and_removed(halo):
    package = {"registryType": "pypi", "identifier": "fs", "version": "1", "transport": {"type": "stdio"}}
    server = {"name": "io.x/fs", "description": "Files.", "version": "1", "packages": [package], "tags": ["disk"]}

    async def app(scope, receive, send):
        if scope["type"] != "http":
            return
        is_list = scope["path"] == "/v0/servers"
        body = json.dumps({"servers": [{"server": server}]}).encode() if is_list else b"# How it works"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async with serving(app) as url:
        server["readme"] = f"{url}/readme"
        halo.home.mkdir()
        (halo.home / "settings.toml").write_text(f'[mcp]\nregistry = "{url}"\n')
        assert "io.x/fs  1  [disk]" in (await halo.run("mcp", "search", "--tag", "disk")).out
        assert (await halo.run("mcp", "search", "--tag", "mail")).out == "No matching servers in the registry.\n"
        shown = (await halo.run("mcp", "show", "fs")).out
        assert ("1. run uvx fs@1" in shown, shown.endswith("# How it works\n")) == (True, True)
        assert (await halo.run("mcp", "install", "fs", "--yes")).code == 0
    assert "fs  stdio  on" in (await halo.run("mcp", "list")).out
    assert (await halo.run("mcp", "remove", "fs")).code == 0
    assert "No MCP servers." in (await halo.run("mcp", "list")).out


async def test_another_agent_runs_lists_and_reads_tasks(halo):
    model = halo.script({"text": "Four."})
    command, *words = (*HALO, "mcp", "serve", "-m", model, "-C", str(halo.folder))
    with open(os.devnull, "w") as nowhere:
        way = stdio_client(StdioServerParameters(command=command, args=words, env=halo.env), errlog=nowhere)
        async with Client(way, read_timeout_seconds=30) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["run_task", "list_tasks", "read_task"]
            answer = (await client.call_tool("run_task", {"prompt": "What is 2 + 2?"})).content[0].text
            listed = (await client.call_tool("list_tasks", {})).content[0].text
            task = listed.split()[0]
            read = (await client.call_tool("read_task", {"task": task})).content[0].text
            unknown = await client.call_tool("read_task", {"task": "none"})
    assert answer.startswith("Four.\n\n[task ")
    assert "What is 2 + 2?" in listed
    assert "Four." in read
    assert unknown.is_error
    assert "There is no task 'none'" in unknown.content[0].text


async def test_what_another_agent_prompts_may_be_a_word_and_an_unknown_one_is_told(halo):
    await add(halo)
    command, *words = (*HALO, "mcp", "serve", "-m", halo.script({"text": "Hello."}), "-C", str(halo.folder))
    with open(os.devnull, "w") as nowhere:
        way = stdio_client(StdioServerParameters(command=command, args=words, env=halo.env), errlog=nowhere)
        async with Client(way, read_timeout_seconds=30) as client:
            said = await client.call_tool("run_task", {"prompt": "/mcp:test:greet the world"})
            wrong = await client.call_tool("run_task", {"prompt": "/mcp:test:great the world"})
    assert said.content[0].text.startswith("Hello.")
    assert (wrong.is_error, "The prompts are: /mcp:test:greet." in wrong.content[0].text) == (True, True)
    (task,) = halo.tasks
    (started,) = [event for event in halo.log(task) if isinstance(event, TurnStarted)]
    assert started.content[0].text.endswith("Greet the world.")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(("decision", "written"), [("allow_once", True), ("reject_once", False), (None, False)])
async def test_the_person_of_another_agent_is_asked_where_that_can_ask(halo, mode, decision, written):
    write = {"tool": "write_to_file", "arguments": {"path": "a.txt", "content": "x"}}
    model = halo.script({"call": [write]}, {"text": "Done."})
    words = ["mcp", "serve", "-m", model, "-C", str(halo.folder), "--approval-mode", "ask"]
    asked = []

    async def answer(context, params):
        asked.append(params)
        if decision is None:
            return types.ElicitResult(action="cancel")
        return types.ElicitResult(action="accept", content={"decision": decision})

    with open(os.devnull, "w") as nowhere:
        command, *more = HALO
        way = stdio_client(StdioServerParameters(command=command, args=[*more, *words], env=halo.env), errlog=nowhere)
        async with Client(way, read_timeout_seconds=30, elicitation_callback=answer, mode=mode) as client:
            said = (await client.call_tool("run_task", {"prompt": "Write."})).content[0].text
    assert (halo.folder / "a.txt").exists() == written
    assert said.startswith("Done.\n\n[task "), said
    (form,) = asked
    assert "Halocline asks for approval" in form.message
    assert "+x" in form.message


async def test_a_server_in_the_file_shared_with_claude_code_is_switched_there_and_keeps_its_unit(halo):
    file = halo.folder / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"a": {"command": "x", "timeout": 600_000}}}))
    assert (await halo.run("mcp", "disable", "a")).out == "a is disabled.\n"
    assert json.loads(file.read_text())["mcpServers"]["a"] == {"command": "x", "timeout": 600_000, "disabled": True}


async def test_a_server_in_another_programs_own_format_is_not_switched_there(halo):
    for name in (".cursor/mcp.json", ".kiro/settings/mcp.json"):
        file = halo.folder / name
        file.parent.mkdir(parents=True)
        text = json.dumps({"mcpServers": {"a": {"command": "x", "timeout": 60_000}}})
        file.write_text(text)
        done = await halo.run("mcp", "disable", "a")
        assert (done.code, "in the format of another program" in done.err, file.read_text()) == (2, True, text)
        file.unlink()
