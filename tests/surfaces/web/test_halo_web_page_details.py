"""One MCP server in full, signing in from a page, and what rules say and hooks did."""

import json
import sys
from typing import Any

import httpx
from tests.mcp import server as small
from tests.providers.oidc_server import company
from tests.servers.model_server import ModelServer
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.cli.test_halo_oidc import set_up as set_up_sign_in
from tests.surfaces.web.page import page, serving

SECRET = "a value that nobody may see"


def program(*words: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": [small.__file__, *words], "env": {"TOKEN": SECRET}}


def entry(halo: Halo, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((halo.home / "mcp.json").read_text())["mcpServers"][name]
    return found


async def test_a_server_is_shown_in_full_and_its_values_never_come_out(halo: Halo) -> None:
    here = str(halo.folder)
    async with serving(halo) as server, page(server) as one:
        await one.do("mcp_add", workspace=here, name="small", config=program())
        before = await one.ask("mcp_server", workspace=here, name="small")
        await one.do("mcp_test", workspace=here, name="small")
        after = await one.ask("mcp_server", workspace=here, name="small")
    assert (before["tools"], before["can_change"], before["signed_in"]) == ([], True, None)
    assert {tool["tool"]: (tool["decision"], tool["read_only"]) for tool in after["tools"]} == {
        "echo": ("ask", False),
        "look": ("ask", True),
    }
    assert all(tool["tokens"] > 0 for tool in after["tools"])
    assert after["config"]["env"] == ["TOKEN"]
    assert SECRET not in repr(one.frames)


async def test_single_fields_and_variables_of_a_server_change_and_the_rest_stays(halo: Halo) -> None:
    here, ours = str(halo.folder), {"name": "small"}
    async with serving(halo) as server, page(server) as one:
        config = program() | {"alwaysAllow": ["echo"], "unknown": 1}
        await one.do("mcp_add", workspace=here, config=config, **ours)
        for changes in (
            {"env": {"MORE": "2"}},
            {"autoApprove": ["look"], "timeout": 5},
            {"timeout": None, "disabledTools": ["echo"]},
        ):
            await one.do("mcp_set", workspace=here, changes=changes, **ours)
        changed = entry(halo, "small")
        wrong = await one.answer("do", name="mcp_set", arguments={"workspace": here, "changes": {"timeout": 0}, **ours})
        await one.do("mcp_set", workspace=here, changes={"url": "https://example.com/mcp"}, **ours)
    assert changed["env"] == {"TOKEN": SECRET, "MORE": "2"}
    assert (changed["autoApprove"], changed["disabledTools"], changed["unknown"]) == (["look"], ["echo"], 1)
    assert not {"alwaysAllow", "timeout"} & set(changed)
    assert wrong["type"] == "refused"
    assert "command" not in entry(halo, "small")


async def test_tools_that_are_allowed_and_denied_at_once_are_each_as_was_said(halo: Halo) -> None:
    here, ours = str(halo.folder), {"name": "small"}
    async with serving(halo) as server, page(server) as one:
        await one.do("mcp_add", workspace=here, config=program() | {"autoApprove": ["*"]}, **ours)
        await one.do("mcp_test", workspace=here, **ours)
        all_of_them = await one.ask("mcp_server", workspace=here, **ours)
        for id, tool, way in (("a", "look", "deny"), ("b", "echo", "allow"), ("c", "other", "")):
            arguments = {"workspace": here, "tool": tool, "way": way, **ours}
            await one.say("do", id=id, name="mcp_allow", arguments=arguments)
        for _ in range(3):
            await one.until(lambda frame: frame["type"] == "answered")
        some = await one.ask("mcp_server", workspace=here, **ours)
    assert {tool["tool"]: tool["decision"] for tool in all_of_them["tools"]} == {"echo": "allow", "look": "allow"}
    assert {tool["tool"]: tool["decision"] for tool in some["tools"]} == {"echo": "allow", "look": ""}
    assert (entry(halo, "small")["autoApprove"], entry(halo, "small")["disabledTools"]) == (["echo"], ["look"])


async def test_what_was_not_shown_is_never_written_back(halo: Halo) -> None:
    here = str(halo.folder)
    key = "sk-ant-api03-" + "a" * 90
    async with serving(halo) as server, page(server) as one:
        config = {"command": "run", "args": ["--key", key]}
        await one.do("mcp_add", workspace=here, name="small", config=config)
        shown = await one.ask("mcp_server", workspace=here, name="small")
        again = {"workspace": here, "name": "small", "changes": {"args": shown["config"]["args"]}}
        refused = await one.answer("do", name="mcp_set", arguments=again)
    assert key not in repr(one.frames)
    assert refused["type"] == "refused"
    assert entry(halo, "small")["args"] == ["--key", key]


async def test_a_sign_in_shows_its_page_and_ends_with_what_the_browser_brings(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        begun = await one.do("sign_in", provider="openrouter")
        query = httpx.URL(begun["url"]).params
        async with httpx.AsyncClient(trust_env=False) as browser:
            answer = await browser.get(f"{query['callback_url']}?error=access_denied")
        refused = await one.answer("do", name="sign_in_wait", arguments={"id": begun["id"]})
        over = await one.answer("do", name="sign_in_paste", arguments={"id": begun["id"], "text": "x"})
        none = await one.answer("do", name="sign_in", arguments={"provider": "openai"})
    assert answer.status_code == 200
    assert ("access_denied" in refused["text"], over["text"]) == (True, "This sign-in has ended.")
    assert none["type"] == "refused"


async def test_a_page_signs_in_to_a_provider_of_ones_own(halo: Halo, unused_tcp_port: int) -> None:
    callback = f"http://localhost:{unused_tcp_port}/signed-in"
    async with company(callback) as issuer, ModelServer() as models:
        set_up_sign_in(halo, models, issuer, callback)
        async with serving(halo) as server, page(server) as one:
            begun = await one.do("sign_in", provider="work")
            async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as browser:
                answer = await browser.get(begun["url"])
            tried = await one.do("sign_in_wait", id=begun["id"])
            await one.ask("models")
            (account,) = [row for row in await one.ask("providers") if row["name"] == "work"]
    assert answer.status_code == 200
    assert (tried["accepted"], tried["failure"], account["stored"], account["signs_in"]) == (True, "", "file", True)
    assert {asked.headers["authorization"] for asked in models.questions} == {f"Bearer {issuer.given[0]}"}
    assert not any(token in repr(one.frames) for token in (*issuer.given, *issuer.refreshing))


async def test_a_sign_in_goes_on_with_an_address_that_was_carried_here(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        begun = await one.do("sign_in", provider="openrouter")
        await one.do("sign_in_paste", id=begun["id"], text="http://localhost:1/elsewhere?code=1")
        refused = await one.answer("do", name="sign_in_wait", arguments={"id": begun["id"]})
    assert refused["text"] == "That address belongs to another sign-in."


async def test_a_rule_is_read_and_a_hook_says_how_it_fared_last(halo: Halo) -> None:
    here = str(halo.folder)
    (halo.folder / "AGENTS.md").write_text("Be brief.\n")
    hooks = halo.home / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "UserPromptSubmit").write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    (hooks / "UserPromptSubmit").chmod(0o755)
    (halo.home / "settings.toml").write_text('hook_failures = "continue"\n')
    async with serving(halo) as server, page(server) as one:
        text = await one.ask("rule_text", workspace=here, path="AGENTS.md")
        none = await one.ask("hook_runs", workspace=here)
        task = await one.begin(halo, "hi", model=halo.script({"text": "Hello."}))
        await one.turn(task)
        (run,) = await one.ask("hook_runs", workspace=here)
    assert (text.strip(), none) == ("Be brief.", [])
    assert (run["moment"], run["task"], run["exit_code"]) == ("UserPromptSubmit", task, 3)


async def test_a_task_of_the_trash_can_be_removed_for_good(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "hi", model=halo.script({"text": "Hello."}))
        await one.turn(task)
        await one.do("delete", task=task)
        await one.do("discard", task=task)
        trash = await one.ask("trash")
        again = await one.answer("do", name="discard", arguments={"task": task})
    assert trash["tasks"] == []
    assert again["type"] == "refused"


async def test_a_tool_is_called_as_the_policy_says_and_what_the_server_printed_stands_in_its_failure(
    halo: Halo,
) -> None:
    here = str(halo.folder)
    async with serving(halo) as server, page(server) as one:
        for name, words in {"good": (), "bad": ("crash",)}.items():
            await one.do("mcp_add", workspace=here, name=name, config=program(*words))
            await one.do("mcp_test", workspace=here, name=name)
        call = {"workspace": here, "tool": "echo", "arguments": {"text": "hello"}}
        asked = await one.do("mcp_call", name="good", **call)
        agreed = await one.do("mcp_call", name="good", agreed=True, **call)
        failed = await one.do("mcp_call", name="bad", agreed=True, **call)
        await one.do("mcp_allow", workspace=here, name="good", tool="echo", way="allow")
        allowed = await one.do("mcp_call", name="good", **call)
        await one.do("mcp_allow", workspace=here, name="good", tool="echo", way="deny")
        denied = await one.do("mcp_call", name="good", agreed=True, **call)
    assert asked["asks"]
    assert not asked["ok"]
    assert agreed["ok"]
    assert "hello" in agreed["content"][0]["text"]
    assert "I cannot go on." in failed["error"]
    assert allowed["ok"]
    assert "offers no tool echo" in denied["error"]
    assert SECRET not in repr(one.frames)
