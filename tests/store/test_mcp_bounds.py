import json

import pytest

from halocline.ports.mcp_servers import ServerOwner
from halocline.store.mcp.servers import McpPlaces, read_servers


@pytest.fixture
def servers(tmp_path):
    """The servers of a person who has one of each kind, under what an administrator says."""
    mine = {"fs": {"command": "fs"}, "web": {"url": "https://x.example/mcp"}}
    (tmp_path / "mine.json").write_text(json.dumps({"mcpServers": mine}))

    def read(managed):
        (tmp_path / "managed.json").write_text(managed if isinstance(managed, str) else json.dumps(managed))
        places = McpPlaces(tmp_path / "mine.json", tmp_path, managed=tmp_path / "managed.json")
        return {server.name: server for server in read_servers(places).servers}

    return read


def test_an_administrators_server_wins_over_one_of_the_same_name(servers):
    found = servers({"mcpServers": {"fs": {"command": "theirs"}}})
    assert (found["fs"].owner, found["fs"].runs) == (ServerOwner.MANAGED, "theirs")
    assert found["web"].problem == ""


@pytest.mark.parametrize(
    ("bounds", "stopped"),
    [
        ({}, set()),
        ({"onlyManaged": True}, {"fs", "web"}),
        ({"blockRemote": True}, {"web"}),
        ({"allow": ["f*"]}, {"web"}),
        ({"allow": []}, {"fs", "web"}),
        ({"onlyManagd": True}, {"fs", "web"}),
    ],
)
def test_an_administrator_bounds_which_others_run_and_a_slip_in_that_lets_none(servers, bounds, stopped):
    found = servers({"mcpServers": {"own": {"command": "x"}}, "halocline": bounds})
    assert {name for name, server in found.items() if server.problem} == stopped
    assert all("administrator" in found[name].problem for name in stopped)


def test_a_managed_file_that_cannot_be_read_lets_nobody_elses_server_run(servers):
    assert {server.problem != "" for server in servers("{").values()} == {True}
