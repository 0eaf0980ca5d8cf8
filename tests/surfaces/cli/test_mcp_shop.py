import dataclasses
import json

import pytest

from halocline.protocol.errors import UsageError
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.mcp.servers import McpService
from halocline.store.paths import Home
from halocline.store.settings.sections import McpSettings
from halocline.store.settings.settings import Settings
from halocline.surfaces.cli.args.mcp import mcp_parser
from halocline.surfaces.cli.mcp.manage import _add_server
from halocline.surfaces.cli.mcp.marketplace import install_server


@pytest.fixture
def desk(tmp_path):
    """A desk whose administrator lets nobody but them name servers by a URL, and a registry with one of each kind."""
    managed = tmp_path / "managed.json"
    managed.write_text(json.dumps({"halocline": {"blockRemote": True}}))
    package = {"registryType": "pypi", "identifier": "fs", "version": "1", "transport": {"type": "stdio"}}
    servers = [
        {"name": "io.x/fs", "packages": [package]},
        {"name": "io.x/far", "remotes": [{"url": "https://x.example"}]},
    ]
    (tmp_path / "registry.json").write_text(json.dumps({"servers": servers}))
    settings = Settings(mcp=McpSettings(registry=str(tmp_path / "registry.json")))
    folder = Assembly(Home(tmp_path / "home"), settings, {}).mcp_of(tmp_path)
    return McpService(dataclasses.replace(folder, managed=managed))


def words(*given):
    return mcp_parser().read([*given])


@pytest.mark.parametrize(("name", "warned"), [("far", True), ("fs", False)])
def test_a_server_that_the_administrator_would_not_let_run_is_said_to_be_one_before_it_is_set_up(
    desk, capsys, name, warned
):
    with pytest.raises(UsageError, match="Installing needs your confirmation"):
        install_server(desk, words("install", name))
    assert (f"The server {name} will not run: the administrator" in capsys.readouterr().err) == warned


@pytest.mark.parametrize(("what", "warned"), [(("https://x.example",), True), (("--", "fs"), False)])
def test_a_server_that_is_added_against_the_bounds_is_said_to_be_one(desk, capsys, what, warned):
    assert _add_server(desk, words("add", "mine", *what)) == 0
    assert ("The server mine will not run: the administrator" in capsys.readouterr().err) == warned


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ("add fs npx -y pkg", "npx -y pkg"),
        ("add fs -C /tmp npx -y pkg --project", "npx -y pkg --project"),
        ("add -e A=b fs --timeout 5 npx -y pkg", "npx -y pkg"),
        ("add fs -e A=b -- npx -y pkg", "npx -y pkg"),
        ("add fs npx -- pkg", "npx -- pkg"),
        ("add fs --env=A=b uvx pkg", "uvx pkg"),
        ("add fs -C /tmp https://x.example", "https://x.example"),
        ("add fs https://x.example -H A:b", "https://x.example"),
        ("add fs", ""),
    ],
)
def test_the_command_of_a_server_begins_at_the_word_after_its_name(given, command):
    found = words(*given.split())
    assert (found.name, found.words) == ("fs", command.split())


def test_options_before_the_command_are_ours_and_those_after_it_are_not():
    found = words("add", "fs", "-C", "/tmp", "-e", "A=b", "npx", "-C", "/srv")
    assert (found.cwd, found.env, found.words) == ("/tmp", ["A=b"], ["npx", "-C", "/srv"])
