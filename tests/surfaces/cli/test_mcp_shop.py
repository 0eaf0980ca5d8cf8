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
