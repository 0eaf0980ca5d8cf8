"""The table of locations, row by row: each is read or imported, guarded and documented."""

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.context.instructions.files import Reader
from halocline.context.instructions.places import Roots
from halocline.context.user_files.agents import found_agents
from halocline.context.user_files.commands import Places as CommandPlaces, found_words
from halocline.context.user_files.skills import found_skills
from halocline.importers.mcp_servers import servers_elsewhere
from halocline.policy.holding import is_protected
from halocline.policy.sensitive_names import runs_later
from halocline.protocol.config_locations import LOCATIONS, Row
from halocline.protocol.events.hooks import HookSource
from halocline.store.mcp.servers import McpPlaces, read_servers
from halocline.store.permissions.hook_files import Places as HookPlaces, hooks_in
from halocline.store.plugins.found import find_in_project, find_own

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PROGRAM = {"command": "node", "args": ["server.js"]}
SERVERS = {
    "vscode": json.dumps({"servers": {"one": PROGRAM}}),
    "opencode": json.dumps({"mcp": {"one": {"type": "local", "command": ["node", "server.js"]}}}),
    "zed": json.dumps({"context_servers": {"one": PROGRAM}}),
    "goose": "extensions:\n  one: {type: stdio, cmd: node, args: [server.js]}\n",
}
SETTINGS_OF_RULES = {
    "opencode": '{"instructions": ["docs/style.md"]}',
    "gemini": '{"context": {"fileName": "docs/style.md"}}',
    "aider": "read: docs/style.md\n",
    "codex": 'project_doc_fallback_filenames = ["docs/style.md"]\n',
}
HOOKS = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}
IDS = [f"{row.shown} {row.holds}" for row in LOCATIONS]


class Ground:
    """A project, a home and Halocline's home, empty but for what a test writes."""

    def __init__(self, top: Path) -> None:
        self.project, self.home, self.own, self.managed = (top / name for name in ("project", "home", "own", "managed"))
        for folder in (self.project, self.home, self.own, self.managed):
            folder.mkdir()

    def top(self, row: Row) -> Path:
        return {"": self.project, "~": self.home, "~/.halocline": self.own, "/etc/halocline": self.managed}[row.root]

    def write(self, file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def reader(self) -> Reader:
        return Reader(Roots(self.project, self.own, self.home, self.managed))


@pytest.fixture
def ground(tmp_path) -> Ground:
    return Ground(tmp_path)


def rules(ground: Ground, row: Row) -> list[str]:
    place = ground.top(row) / row.path
    ground.write(place / f"a{row.endings[0]}" if row.endings else place, "---\nalwaysApply: true\n---\nUse tabs.")
    return [file.path for file in ground.reader().all() if not file.inert]


def named_rules(ground: Ground, row: Row) -> list[str]:
    place = ground.top(row) / row.path
    ground.write(place, SETTINGS_OF_RULES[row.dialect])
    ground.write((place.parent if row.dialect == "gemini" and row.root else ground.project) / "docs/style.md", "x")
    return [file.named_by for file in ground.reader().all() if not file.inert]


def skills(ground: Ground, row: Row) -> list[str]:
    ground.write(ground.top(row) / row.path / "one/SKILL.md", "---\ndescription: x\n---\nDo.\n")
    return [skill.file for skill in found_skills(ground.project, ground.home).skills]


def agents(ground: Ground, row: Row) -> list[str]:
    file = ground.top(row) / row.path / f"one{row.endings[0]}"
    ground.write(file, "---\nname: one\ndescription: x\n---\nYou review.\n")
    return [agent.file for agent in found_agents(ground.project, ground.own / "agents", ground.home).agents]


def commands(ground: Ground, row: Row) -> list[str]:
    ground.write(ground.top(row) / row.path / f"one{row.endings[0]}", "prompt = 'x'")
    places = CommandPlaces(ground.project, ground.own, ground.home)
    return [file.path for file in found_words(places).files.values()]


def hooks(ground: Ground, row: Row) -> list[str]:
    if row.holds == "hooks":
        ground.write(ground.top(row) / row.path / "PreToolUse.sh", "exit 0\n")
    else:
        ground.write(ground.top(row) / row.path, json.dumps(HOOKS))
    source = HookSource.USER if row.root else HookSource.PROJECT
    return [hook.file for hook in hooks_in(HookPlaces(ground.project, ground.home), source)]


def servers(ground: Ground, row: Row) -> list[str]:
    file = ground.top(row) / row.path
    ground.write(file, SERVERS.get(row.dialect, json.dumps({"mcpServers": {"one": PROGRAM}})))
    places = McpPlaces(ground.own / "mcp.json", ground.project, ground.home, ground.managed / "mcp.json")
    read = [server for server in read_servers(places).servers if (server.entry.command, server.problem) == ("node", "")]
    brought = [one for one in servers_elsewhere(ground.home, {}, ground.project) if one.given["command"] == "node"]
    assert not (row.imported and read)
    return [one.file for one in brought] if row.imported else [str(server.file) for server in read]


def plugins(ground: Ground, row: Row) -> list[str]:
    ground.write(ground.top(row) / row.path / "one/plugin.toml", "")
    own, here = find_own(ground.own / "plugins"), find_in_project([ground.project / row.path / "one"], ground.project)
    return [found.folder for found in (*own, *here) if not found.problem]


LOADERS = {
    "rules": rules,
    "names of rules": named_rules,
    "skills": skills,
    "agents": agents,
    "workflows": commands,
    "commands": commands,
    "hooks": hooks,
    "hook settings": hooks,
    "plug-ins": plugins,
    "servers": servers,
}


@pytest.mark.parametrize("row", LOCATIONS, ids=IDS)
def test_what_is_at_a_location_is_read_or_imported(ground, row):
    found = LOADERS[row.holds](ground, row)
    assert any(row.path in file for file in found), found


@for_each("row", LOCATIONS)
def test_a_location_is_guarded(row):
    inside = [row.path, f"{row.path}/x.md", f"sub/{row.path.upper()}"]
    if row.root in ("", "~"):
        assert all(map(runs_later, inside))
    if not row.root:
        assert all(map(is_protected, inside))


@for_each("row", LOCATIONS)
def test_a_location_is_documented(row):
    page = "rules.md" if row.holds in ("rules", "names of rules") else "locations.md"
    lines = [line for line in (REFERENCE / page).read_text().splitlines() if f"`{row.shown}" in line]
    assert any(row.program in line for line in lines)


def test_a_location_of_one_kind_is_listed_once():
    assert [key for key, count in Counter((row.shown, row.holds) for row in LOCATIONS).items() if count > 1] == []
