"""MCP servers and instructions as a person sets them up on the page."""

import json
import sys

import pytest
from tests.hosts.chromium import needs_chromium
from tests.mcp import server as small

pytestmark = [needs_chromium, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


def servers(server) -> dict:
    return json.loads((server.halo.home / "mcp.json").read_text())["mcpServers"]


async def test_a_server_is_added_tested_allowed_edited_and_removed(server, opened):
    await server.start()
    screen = await opened(path="mcp")
    page, keys = screen.page, screen.page.keyboard
    await page.get_by_role("link", name="add one manually").click()
    await page.get_by_label("Name", exact=True).fill("small")
    await page.get_by_label("Command", exact=True).fill(sys.executable)
    await page.get_by_label("Arguments").fill(small.__file__)
    await page.get_by_label("Variables").fill("TOKEN=hidden value")
    await page.get_by_label("Command", exact=True).press("Enter")
    await page.get_by_role("button", name="Test").click()
    await screen.sees("Works: 2 tools")
    await page.get_by_label("Permission for echo").select_option("allow")
    await page.locator("select[aria-label$=echo]:enabled").wait_for()
    await page.get_by_label("Permission for look").select_option("deny")
    await screen.sees("1 tool,", ".pane-list")
    await page.get_by_role("button", name="Edit…").click()
    shown = await page.get_by_label("Variables").input_value()
    await page.get_by_label("Variables").fill("TOKEN\nMORE=2")
    await page.get_by_role("button", name="Save").click()
    await screen.sees("small updated.")
    entry = servers(server)["small"]
    await page.get_by_role("button", name="Remove…").click()
    await page.get_by_role("button", name="Cancel").and_(page.locator(":focus")).wait_for()
    await page.get_by_role("dialog").get_by_role("button", name="Remove").focus()
    await keys.press("Enter")
    await screen.sees("No MCP servers yet.")
    assert shown == "TOKEN"
    assert entry["env"] == {"TOKEN": "hidden value", "MORE": "2"}
    assert (entry["autoApprove"], entry["disabledTools"]) == (["echo"], ["look"])
    assert servers(server) == {}


async def test_pasted_json_sets_several_servers_up_and_a_broken_one_says_why_with_what_it_printed(server, opened):
    await server.start()
    screen = await opened(path="mcp/%2Badd")
    page = screen.page
    failing = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('no such luck')"]}
    await page.get_by_label("Paste JSON").check()
    await page.get_by_label("JSON", exact=True).fill('{"mcpServers": {')
    await screen.sees("Invalid JSON")
    pasted = {"mcpServers": {"broken": failing, "far": {"url": "https://example.invalid/mcp"}}}
    await page.get_by_label("JSON", exact=True).fill(json.dumps(pasted))
    await screen.sees("far: https://example.invalid/mcp", ".run-line")
    await page.get_by_role("button", name="Add server").click()
    await page.get_by_role("button", name="Test").click()
    await screen.sees("no such luck", ".pane-detail")
    broken = page.get_by_role("list", name="Servers").get_by_role("link", name="broken")
    await broken.get_by_text("test failed").wait_for()
    assert await broken.locator(".dot.failed").count() == 1
    await page.get_by_role("button", name="Turn off").click()
    await page.get_by_role("switch", name="Off").wait_for()
    assert servers(server) == {"broken": failing | {"disabled": True}, "far": {"url": "https://example.invalid/mcp"}}


async def test_a_server_of_the_registry_shows_what_it_runs_before_it_is_set_up(server, opened):
    package = {"registryType": "pypi", "identifier": "srv", "version": "1.0", "transport": {"type": "stdio"}}
    package["environmentVariables"] = [{"name": "SRV_TOKEN", "description": "Who you are", "isRequired": True}]
    listed = {"name": "io.example/srv", "description": "Looks after <b>things</b>", "packages": [package]}
    (server.halo.root / "registry.json").write_text(json.dumps({"servers": [{"server": listed}]}))
    server.settings(f'[mcp]\nregistry = "{server.halo.root / "registry.json"}"\n')
    await server.start()
    screen = await opened(path="mcp/%2Bfind")
    await screen.page.get_by_label("Search the registry").fill("things")
    await screen.page.keyboard.press("Enter")
    await screen.sees("Looks after <b>things</b>")
    await screen.page.get_by_role("button", name="Details").click()
    await screen.sees("uvx srv@1.0", "dialog")
    assert not (server.halo.home / "mcp.json").exists()
    await screen.page.get_by_label("SRV_TOKEN").fill("me")
    await screen.page.get_by_role("button", name="Add server").click()
    await screen.sees("Added srv.")
    assert servers(server)["srv"] == {"command": "uvx", "args": ["srv@1.0"], "env": {"SRV_TOKEN": "me"}}


async def test_servers_of_the_registry_stand_in_the_order_that_is_chosen(server, opened):
    listed = [
        {"server": {"name": f"io.x/{name}"}, "githubStars": stars} for name, stars in (("b", 2), ("a", 9), ("c", 5))
    ]
    (server.halo.root / "registry.json").write_text(json.dumps({"servers": listed}))
    server.settings(f'[mcp]\nregistry = "{server.halo.root / "registry.json"}"\n')
    await server.start()
    screen = await opened(path="mcp/%2Bfind")
    await screen.page.get_by_label("Search the registry").fill("io.x")
    await screen.page.keyboard.press("Enter")
    await screen.sees("io.x/c")
    await screen.page.get_by_label("Sort by").select_option("Most stars")
    await screen.sees("9 stars")
    await screen.page.wait_for_function("document.querySelector('.entry strong')?.textContent === 'io.x/a'")
    names = await screen.page.locator(".entry strong").all_inner_texts()
    assert names == ["io.x/a", "io.x/c", "io.x/b"]


async def test_rules_stand_in_their_order_say_why_and_are_switched_off_and_on(server, opened):
    (server.halo.folder / "AGENTS.md").write_text("# Ours\n\nBe brief.\n")
    rules = server.halo.folder / ".halocline" / "rules"
    rules.mkdir(parents=True)
    (rules / "tests.md").write_text('---\npaths:\n  - "tests/**"\n---\nUse pytest.\n')
    await server.start()
    screen = await opened(path="rules")
    await screen.page.get_by_label("Path of a file to check").fill("src/app.py")
    await screen.page.keyboard.press("Enter")
    await screen.sees("1 file of 2 applies to src/app.py.")
    await screen.page.get_by_role("link", name="AGENTS.md").click()
    await screen.sees("Be brief.", ".pane-detail")
    await screen.page.get_by_role("switch", name="On", exact=True).press(" ")
    await screen.page.get_by_role("switch", name="Off").wait_for()
    off = await server.halo.run("rules", "list", "--all")
    await screen.page.get_by_role("button", name="Undo").click()
    await screen.page.get_by_role("switch", name="On", exact=True).wait_for()
    assert "switched off" in off.out


async def test_a_rule_is_made_a_note_written_and_removed_with_a_way_back_and_a_folder_trusted(server, opened):
    hooks = server.halo.folder / ".halocline" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "PreToolUse").write_text("#!/bin/sh\n")
    (hooks / "PreToolUse").chmod(0o755)
    await server.start()
    screen = await opened(path="rules")
    page = screen.page
    await page.get_by_role("button", name="New", exact=True).click()
    await page.get_by_label("Name", exact=True).fill("style")
    await page.get_by_label("Only for these files").fill("src/**")
    await page.get_by_role("button", name="Create", exact=True).click()
    await screen.sees("for src/**")
    await page.locator("dialog .code-editor").wait_for()  # the new file opens to be written
    await screen.go("rules/memory")  # what was open over the place before closes
    await page.locator("dialog").wait_for(state="detached")
    await page.get_by_label("New note").fill("Run make test.")
    await page.get_by_role("button", name="Add note").click()
    await screen.sees("added by hand")
    await page.get_by_role("button", name="Remove Run make test.").click()
    await screen.sees("No notes yet.")
    await page.get_by_role("button", name="Undo").click()
    await screen.sees("Run make test.", ".entry")
    await screen.go("rules/hooks")
    await screen.sees("inactive", ".entry")
    await page.get_by_role("link", name="Review").click()
    await page.get_by_role("button", name="Trust folder").click()
    await screen.sees("trusted", ".page-body .tag")
    await screen.go("rules/hooks")
    await screen.sees("active", ".entry .tag.good")
    assert (server.halo.folder / ".halocline" / "rules" / "style.md").read_text().startswith("---\npaths:")


async def test_a_name_that_menus_and_rules_cannot_show_is_refused_with_the_reason_and_nothing_is_saved(server, opened):
    await server.start()
    screen = await opened(path="mcp/+add")
    await screen.page.get_by_label("Command", exact=True).fill("true")
    name = screen.page.get_by_label("Name", exact=True)
    for wrong in ("a//b", "x" * 101, "a\u202eb"):
        await name.fill(wrong)
        await screen.page.get_by_role("button", name="Add server").click()
        await screen.sees("is not a valid server name: a name must have 1 to 100 printable characters", "[role=alert]")
    assert not (server.halo.home / "mcp.json").exists()
    await name.fill("files")
    await screen.page.get_by_role("button", name="Add server").click()
    await screen.sees("Added files.")


async def test_a_command_typed_with_its_arguments_is_a_program_and_its_arguments(server, opened):
    await server.start()
    screen = await opened(path="mcp/%2Badd")
    await screen.page.get_by_label("Name").fill("mine")
    await screen.page.get_by_label("Command", exact=True).fill('"/opt/my tools/run" /x/srv.py')
    await screen.page.get_by_role("button", name="Add server").click()
    await screen.sees("Added mine.")
    entry = servers(server)["mine"]
    assert (entry["command"], entry["args"]) == ("/opt/my tools/run", ["/x/srv.py"])
    await screen.page.get_by_role("button", name="Edit…").click()
    assert await screen.page.get_by_label("Command", exact=True).input_value() == '"/opt/my tools/run"'
