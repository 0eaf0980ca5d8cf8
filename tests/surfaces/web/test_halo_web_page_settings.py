"""Settings, keys, servers, rules, notes and folders, as a page looks at them and changes them."""

import sys
from typing import Any

from tests.servers.model_server import ModelServer
from tests.surfaces.cli.halo_process import Halo
from tests.surfaces.web.page import page, serving

from halocline.providers.scripted.model import Turn

KEY = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz"


async def test_a_setting_is_changed_and_put_back_and_comments_stay(halo: Halo) -> None:
    halo.home.mkdir()
    file = halo.home / "settings.toml"
    file.write_text("# mine\nmax_steps = 5 # few\n")
    async with serving(halo) as server, page(server) as one:
        before = named(await one.ask("settings"), "max_steps")
        await one.do("set_setting", name="max_steps", value=7)
        await one.do("set_setting", name="mcp.enabled", value=False)
        changed = file.read_text()
        rows = await one.ask("settings")
        await one.do("reset_setting", name="mcp.enabled")
        wrong = await one.answer("do", name="set_setting", arguments={"name": "max_steps", "value": 0})
    assert (before["value"], before["default"], before["source"]) == (5, 200, "settings.toml")
    assert changed == "# mine\nmax_steps = 7 # few\n\n[mcp]\nenabled = false\n"
    assert (named(rows, "max_steps")["value"], named(rows, "mcp.enabled")["value"]) == (7, False)
    assert file.read_text() == "# mine\nmax_steps = 7 # few\n\n"
    assert (wrong["type"], wrong["code"]) == ("refused", "settings")


async def test_settings_that_are_changed_at_once_are_all_kept(halo: Halo) -> None:
    wanted = {"max_steps": 7, "max_failures": 8, "keep_deleted": 9, "checkpoints_quota": 10.0, "language": "German"}
    async with serving(halo) as server, page(server) as one:
        for name, value in wanted.items():
            await one.say("do", id=name, name="set_setting", arguments={"name": name, "value": value})
        for _ in wanted:
            await one.until(lambda frame: frame["type"] == "answered")
        rows = await one.ask("settings")
    assert {name: named(rows, name)["value"] for name in wanted} == wanted


async def test_what_begins_after_a_change_of_settings_follows_it(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        await one.do("set_setting", name="approval_mode", value="auto")
        task = await one.begin(halo, "hi", model=halo.script({"text": "Hello."}))
        await one.turn(task)
        report = await one.ask("policy", task=task)
    assert report["approval_mode"] == "auto"
    grids = {mode["mode"]: mode["grid"] for mode in report["modes"]}
    assert (grids["ask"]["edit"], grids["accept-edits"]["edit"], grids["ask"]["read"]) == ("ask", "allow", "allow")
    assert (grids["ask"]["safe_commands"], grids["yolo"]["all_commands"]) == ("allow", "allow")


async def test_a_key_goes_in_and_none_comes_out(halo: Halo) -> None:
    async with ModelServer([Turn(text="ok")], key=KEY) as models, serving(halo) as server, page(server) as one:
        url = models.url("openai")
        refused = await one.do("connect_server", provider="openai", key=f"{KEY}x", base_url=url)
        none = await one.ask("providers")
        kept = await one.do("connect_server", provider="openai", key=KEY, base_url=url)
        some = await one.ask("providers")
        await one.do("logout", provider="openai")
        gone = await one.ask("providers")
        odd = await one.answer("do", name="login", arguments={"provider": "openai", "key": ""})
    assert refused["accepted"] is False
    assert kept["accepted"] is not False
    assert [of(rows, "openai").get("stored") for rows in (none, some, gone)] == ["", "file", ""]
    assert odd["type"] == "refused"
    assert KEY not in repr(one.frames)


async def test_a_server_at_an_address_is_saved_only_if_it_answers_and_its_key_is_never_told(halo: Halo) -> None:
    async with ModelServer([], key=KEY, models=["one"]) as models, serving(halo) as server, page(server) as one:
        url, name = models.url("openai"), "openai-compatible"
        wrong = await one.do("connect_server", provider=name, key=f"{KEY}x", base_url=url)
        none = [row["name"] for row in await one.ask("models") if row["name"].startswith(name)]
        right = await one.do("connect_server", provider=name, key=KEY, base_url=url)
        some = [row["name"] for row in await one.ask("models") if row["name"].startswith(name)]
        odd = await one.answer("do", name="connect_server", arguments={"provider": name, "key": "", "base_url": "x"})
        missing = await one.answer("do", name="connect_server", arguments={"provider": name, "key": ""})
    assert (wrong["accepted"], none) == (False, [])
    assert (right["failure"], some) == ("", [f"{name}/one"])
    assert (odd["type"], missing["type"]) == ("refused", "refused")
    assert KEY not in repr(one.frames) + (halo.home / "settings.toml").read_text()


async def test_a_server_is_set_up_tried_switched_off_and_removed(halo: Halo) -> None:
    here = str(halo.folder)
    async with serving(halo) as server, page(server) as one:
        config = {"command": sys.executable, "args": ["-c", "import sys; sys.exit(print('no', file=sys.stderr))"]}
        await one.do("mcp_add", workspace=here, name="small", config=config)
        tried = await one.do("mcp_test", workspace=here, name="small")
        printed = await one.ask("mcp_log", workspace=here, name="small")
        await one.do("mcp_disable", workspace=here, name="small")
        off = await one.ask("mcp", workspace=here)
        await one.do("mcp_remove", workspace=here, name="small")
        none = await one.ask("mcp", workspace=here)
    assert (tried["ok"], "no" in printed) == (False, True)
    assert [(row["name"], row["state"]) for row in off["servers"]] == [("small", "off")]
    assert none["servers"] == []


async def test_a_server_of_a_registry_is_shown_before_it_is_set_up(halo: Halo) -> None:
    registry = halo.root / "registry.json"
    package = '{"registryType": "pypi", "identifier": "srv", "version": "1.0", "transport": {"type": "stdio"}}'
    registry.write_text(
        f'{{"servers": [{{"server": {{"name": "a/srv", "description": "One", "packages": [{package}]}}}}]}}'
    )
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text(f'[mcp]\nregistry = "{registry}"\n')
    async with serving(halo) as server, page(server) as one:
        found = await one.ask("registry", words="srv")
        plan = await one.ask("registry_plan", name="a/srv")
        name = await one.do("mcp_install", workspace=str(halo.folder), name="a/srv", values={})
    assert [row["name"] for row in found] == ["a/srv"]
    assert [way["runs"] for way in plan["ways"]] == ["run uvx srv@1.0"]
    assert name == "srv"
    assert "uvx" in (halo.home / "mcp.json").read_text()


async def test_a_rule_is_made_explained_and_switched_off(halo: Halo) -> None:
    here = str(halo.folder)
    async with serving(halo) as server, page(server) as one:
        made = await one.do("rule_new", workspace=here, name="style", paths=["*.py"])
        listed = await one.ask("rules", workspace=here)
        why = await one.ask("rule_why", workspace=here, path="a.py")
        await one.do("rule_off", workspace=here, path=made)
        off = await one.ask("rules", workspace=here)
    assert made == f"{here}/.halocline/rules/style.md"
    assert [(row["file"], row["inert"]) for row in listed["files"]] == [(made, "")]
    assert [row["holds"] for row in why] == [True]
    assert off["files"][0]["inert"]


async def test_a_note_is_written_and_removed(halo: Halo) -> None:
    here = str(halo.folder)
    async with serving(halo) as server, page(server) as one:
        await one.do("memory_add", workspace=here, text="Use tabs.")
        await one.do("memory_add", workspace=here, text="Use uv.", project=True)
        notes = await one.ask("memory", workspace=here)
        await one.do("memory_remove", workspace=here, number=1)
        left = await one.ask("memory", workspace=here)
    assert [note["text"] for file in notes["files"] for note in file["notes"]] == ["Use tabs.", "Use uv."]
    assert [note["text"] for file in left["files"] for note in file["notes"]] == ["Use uv."]


async def test_folders_are_looked_through_and_told_with_their_git(halo: Halo) -> None:
    await (await halo.start("--version")).communicate()
    (halo.folder / "inner").mkdir()
    (halo.folder / ".hidden").mkdir()
    async with serving(halo) as server, page(server) as one:
        known = await one.ask("workspaces")
        look = await one.ask("folders", path=str(halo.folder))
        git = await one.ask("git", workspace=str(halo.folder))
        none = await one.answer("query", name="folders", arguments={"path": "/nowhere\0"})
        said = await one.ask("explain", workspace=str(halo.folder), command="rm -rf /")
        kept = await one.ask("storage")
        hooks = await one.ask("hooks", workspace=str(halo.folder))
    assert [(row["path"], row["exists"]) for row in known] == [(str(halo.folder), True)]
    assert ([row["name"] for row in look["folders"]], look["parent"]) == (["inner"], str(halo.root))
    assert git == {"branch": "", "dirty": 0}
    assert none["type"] == "refused"
    assert said["decision"] == "deny" or said["decision"] == "ask"
    assert kept["root"] == str(halo.home)
    assert hooks == []


def named(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(row for row in rows if row["name"] == name)


def of(rows: list[dict[str, Any]], provider: str) -> dict[str, Any]:
    return named(rows, provider)
