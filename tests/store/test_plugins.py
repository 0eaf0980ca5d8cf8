"""Plug-ins on the disk: manifests, the reading of a folder, and copies."""

import json
import os

import pytest
from tests.tables import for_each

from halocline.store.plugins.folder import InvalidPlugin, PluginFile, digest_folder, read_folder, write_copy
from halocline.store.plugins.found import PluginSource, find_in_project, read_plugin
from halocline.store.plugins.manifest import CLAUDE_FILE, FILE, read_manifest


def files(**texts):
    return {name: PluginFile(text.encode(), False) for name, text in texts.items()}


def ours(text, **more):
    return {FILE: PluginFile(text.encode(), False), **files(**more)}


def claudes(given, *names):
    text = given if isinstance(given, str) else json.dumps(given)
    return {CLAUDE_FILE: PluginFile(text.encode(), False), **{name: PluginFile(b"x", False) for name in names}}


def put(top, name, text="x"):
    path = top / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def plugin(tmp_path):
    put(tmp_path / "tidy", FILE, 'name = "tidy"\nversion = "2"\n')
    put(tmp_path / "tidy", "skills/a/SKILL.md")
    return tmp_path / "tidy"


GOOD = [
    (ours(""), ("given", "1", None, ())),
    (ours('name = "a"\nversion = "2"\nmay = ["reads"]'), ("a", "2", ("reads",), ())),
    (ours("may = []"), ("given", "1", (), ())),
    (ours('python = "tools.py"', **{"tools.py": "x"}), ("given", "1", None, (("tool", "tools.py"),))),
    (
        ours("", **{"skills/a/SKILL.md": "x", "commands/b.md": "x", "hooks/PreToolUse": "x", ".mcp.json": "{}"}),
        (
            "given",
            "1",
            None,
            (("skill", "skills"), ("command", "commands"), ("server", ".mcp.json"), ("hook", "hooks")),
        ),
    ),
    (
        claudes({"name": "c", "version": "3"}, "agents/x.md", "hooks/hooks.json"),
        ("c", "3", None, (("agent", "agents"), ("hook", "hooks/hooks.json"))),
    ),
    (
        claudes({"name": "c", "commands": ["./more/x.md", "./commands"], "skills": "./"}, "commands/y.md", "more/x.md"),
        ("c", "1", None, (("command", "commands"), ("skill", "."), ("command", "more/x.md"))),
    ),
    (
        claudes({"name": "c", "hooks": {"Stop": []}, "mcpServers": {"a": {"command": "b"}}}),
        ("c", "1", None, (("hook", CLAUDE_FILE), ("server", CLAUDE_FILE))),
    ),
    (claudes({"name": "c", "hooks": "./h.json"}, "h.json"), ("c", "1", None, (("hook", "h.json"),))),
]
BAD = [
    ({}, "it has no plugin.toml and no .claude-plugin/plugin.json"),
    (ours("name = "), "its manifest is invalid"),
    (ours('nam = "a"'), "unknown field `nam`"),
    (ours('may = ["everything"]'), "Invalid enum value"),
    (ours('name = "../up"'), "must be letters"),
    (ours('name = "a\\u001b[31m"'), r"a\\x1b[31m"),
    (ours('python = "gone.py"'), "there is no gone.py"),
    (ours('python = "../up.py"'), "leads out of the plug-in"),
    (ours('python = "/etc/up.py"'), "leads out of the plug-in"),
    (ours('python = "run.sh"'), "matching regex"),
    (claudes("[]"), "Expected `object`"),
    (claudes("{"), "its manifest is invalid"),
    (claudes('{"a":' * 5000), "its manifest is invalid"),
    (claudes({"name": "c", "commands": "../../etc"}), "leads out of the plug-in"),
    (claudes({"name": "c", "agents": 7}), "neither a path nor a list of paths"),
    ({FILE: PluginFile(b"\xff", False)}, "its manifest is invalid"),
]


@for_each("given, expected", GOOD)
def test_a_manifest_says_what_there_is_and_where(given, expected):
    found = read_manifest(given, "given", "1")
    places = tuple((place.kind, place.path) for place in found.places)
    assert (found.name, found.version, found.may, places) == expected


@for_each("given, why", BAD)
def test_a_manifest_that_is_wrong_says_why(given, why):
    with pytest.raises(InvalidPlugin) as refused:
        read_manifest(given, "given")
    assert why in str(refused.value)


def test_what_another_program_alone_reads_is_named():
    found = read_manifest(claudes({"name": "c", "lspServers": "./lsp.json", "userConfig": {"a": 1}}), "")
    assert found.unread == ("lspServers", "userConfig")


def test_the_hash_covers_names_content_and_what_runs_but_no_history(plugin):
    seen = {digest_folder(plugin)}
    put(plugin, ".git/HEAD")
    put(plugin, "skills/__pycache__/a.pyc")
    assert {digest_folder(plugin)} == seen
    for change in (
        lambda: put(plugin, "skills/a/SKILL.md", "y"),
        lambda: put(plugin, "skills/a/more"),
        lambda: (plugin / "skills/a/more").rename(plugin / "skills/a/other"),
        lambda: (plugin / "skills/a/other").chmod(0o755),
        lambda: (plugin / "skills/a/SKILL.md").unlink(),
    ):
        change()
        assert digest_folder(plugin) not in seen
        seen.add(digest_folder(plugin))


def test_a_link_may_lead_to_a_file_inside_and_nowhere_else(plugin, tmp_path):
    (plugin / "inside.md").symlink_to("skills/a/SKILL.md")
    assert read_folder(plugin)["inside.md"].data == b"x"
    secret = put(tmp_path, "secret")
    for target, why in (
        (secret, "leads out of it"),
        (plugin / "skills", "link to a folder"),
        ("gone", "cannot be read"),
    ):
        link = plugin / "link"
        link.symlink_to(target)
        with pytest.raises(InvalidPlugin, match=why):
            read_folder(plugin)
        link.unlink()


def test_a_pipe_and_a_name_that_cannot_be_printed_are_refused(plugin):
    os.mkfifo(plugin / "pipe")
    with pytest.raises(InvalidPlugin, match="pipe in it cannot be read"):
        read_folder(plugin)
    (plugin / "pipe").unlink()
    put(plugin, "a\nb")
    with pytest.raises(InvalidPlugin, match=r"the name of a\\nb in it cannot be printed"):
        read_folder(plugin)


def test_a_folder_that_is_too_large_is_refused(plugin):
    put(plugin, "large", "x" * 40)
    with pytest.raises(InvalidPlugin, match="larger than 50 bytes"):
        read_folder(plugin, most_bytes=50)
    with pytest.raises(InvalidPlugin, match="more than 2 files"):
        read_folder(plugin, most_files=2)


def test_a_copy_has_the_bytes_that_were_read_whatever_came_later(plugin, tmp_path):
    (plugin / "run").write_text("#!/bin/sh\n")
    (plugin / "run").chmod(0o755)
    read = read_folder(plugin)
    put(plugin, "skills/a/SKILL.md", "changed since")
    copy = tmp_path / "copies" / "one"
    write_copy(read, copy)
    assert (copy / "skills/a/SKILL.md").read_text() == "x"
    assert read_folder(copy) == read
    put(copy, "skills/a/SKILL.md", "changed by someone")
    put(copy, "more")
    write_copy(read, copy)
    assert read_folder(copy) == read
    assert os.listdir(copy.parent) == ["one"]


def test_a_plugin_of_a_project_does_not_lead_out_of_it(plugin, tmp_path):
    project = tmp_path / "project"
    (project / ".halocline/plugins").mkdir(parents=True)
    link = project / ".halocline/plugins/tidy"
    link.symlink_to(plugin)
    (found,) = find_in_project([link], project)
    assert (found.problem, found.files) == ("it is a link that leads out of the project", {})
    assert read_plugin(link, PluginSource.YOURS).problem == ""
