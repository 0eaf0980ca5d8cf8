import json

import pytest

from halocline.ports.mcp_servers import ServerOwner
from halocline.protocol.config_locations import OTHERS_MCP
from halocline.protocol.errors import SettingsError
from halocline.store.mcp.servers import McpPlaces, read_servers, write_server


@pytest.fixture
def places(tmp_path):
    return McpPlaces(tmp_path / "home" / "mcp.json", tmp_path / "work", tmp_path / "person")


def put(file, servers):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(servers if isinstance(servers, str) else json.dumps({"mcpServers": servers}))


def test_the_persons_file_goes_before_the_projects_and_that_before_clines(places):
    put(places.own, {"a": {"command": "mine"}})
    put(places.workspace / ".mcp.json", {"a": {"command": "theirs"}, "b": {"command": "theirs"}})
    put(places.workspace / ".halocline/mcp.json", {"b": {"command": "ours"}})
    put(places.home / OTHERS_MCP[0], {"b": {"command": "cline"}, "c": {"command": "cline"}})
    found = {server.name: (server.entry.command, server.owner) for server in read_servers(places).servers}
    assert found == {
        "a": ("mine", ServerOwner.USER),
        "b": ("ours", ServerOwner.PROJECT),
        "c": ("cline", ServerOwner.CLINE),
    }


@pytest.mark.parametrize(
    ("given", "transport"),
    [
        ({"command": "x"}, "stdio"),
        ({"type": "stdio", "command": "x", "args": ["-y"]}, "stdio"),
        ({"url": "https://x"}, ""),
        ({"type": "sse", "url": "https://x"}, "sse"),
        ({"transportType": "http", "url": "https://x"}, "http"),
        ({"type": "streamableHttp", "url": "https://x"}, "http"),
        ({"type": "streamable-http", "url": "https://x"}, "http"),
        ({"httpUrl": "https://x", "type": "http"}, "http"),
    ],
)
def test_the_forms_that_people_write_are_understood(places, given, transport):
    put(places.own, {"a": given})
    (server,) = read_servers(places).servers
    assert (server.problem, server.transport) == ("", transport)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "needs a command or a url"),
        ({"type": "smoke", "command": "x"}, "unknown type 'smoke'"),
        ({"type": "sse", "command": "x"}, "needs a url"),
        ({"url": "file:///etc/passwd"}, "must start with http"),
        ({"command": "x", "timeout": 0}, "$.timeout"),
        ({"command": ["x"]}, "$.command"),
        ("x", "not an object"),
        ({"command": "a\0b"}, "a NUL"),
    ],
)
def test_a_server_that_is_written_wrongly_says_so_and_the_others_work(places, given, why):
    put(places.own, {"bad": given, "good": {"command": "x"}})
    bad, good = read_servers(places).servers
    assert why in bad.problem
    assert str(places.own) in bad.problem
    assert good.problem == ""


def test_a_file_that_is_broken_while_it_is_watched_leaves_the_servers_as_they_were(places):
    put(places.own, {"a": {"command": "x"}})
    before = read_servers(places)
    put(places.own, '{"mcpServers": {"a":')
    after = read_servers(places, before)
    assert after.servers == before.servers
    assert str(places.own) in after.problems[0]


def test_keys_are_in_no_text_form_of_a_server(places):
    put(places.own, {"a": {"command": "x", "env": {"KEY": "s3cret"}, "headers": {"A": "s3cret"}}})
    (server,) = read_servers(places).servers
    assert "s3cret" not in repr(server)
    assert server.entry.env["KEY"].reveal() == "s3cret"


def test_writing_keeps_everything_else_and_a_link_and_makes_a_new_file_private(places, tmp_path):
    write_server(places.own, "a", {"command": "x"})
    assert places.own.stat().st_mode & 0o777 == 0o600
    real = tmp_path / "elsewhere.json"
    places.own.rename(real)
    places.own.symlink_to(real)
    write_server(places.own, "b", {"command": "y"})
    assert json.loads(real.read_text())["mcpServers"] == {"a": {"command": "x"}, "b": {"command": "y"}}
    assert places.own.is_symlink()
    write_server(places.own, "a", None)
    assert list(json.loads(real.read_text())["mcpServers"]) == ["b"]


def test_a_broken_file_is_never_written_over(places):
    put(places.own, "{")
    with pytest.raises(SettingsError, match="Cannot read"):
        write_server(places.own, "a", {"command": "x"})
    assert places.own.read_text() == "{"


@pytest.mark.parametrize("name", ["", " ", "/a", "a/", "a//b", "new\nline", "esc\x1b[31m", "x" * 101])
def test_a_name_that_nobody_could_write_or_see_is_none(places, name):
    put(places.own, {name: {"command": "x"}})
    (server,) = read_servers(places).servers
    assert "printable characters" in server.problem
