"""What a client asks for and does not get is an error, which says why, and leaves nothing behind."""

from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema
from acp.agent import router
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin, connect, prompt

from halocline.providers.scripted.script import Turn
from halocline.surfaces.acp.servers import find_left_out, read_servers

pytestmark = pytest.mark.process
PROGRAM = {"name": "tools", "command": "/bin/true", "args": [], "env": []}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "inside").mkdir(parents=True)
    return folder


def list_tasks(root: Path) -> list[str]:
    return [one.name for one in (root / "home" / "tasks").glob("*") if one.is_dir()]


def list_wrong_openings(folder: Path) -> dict[str, dict[str, Any]]:
    """The parameters of a request to open a session that are wrong, by what is wrong."""
    return {
        "another folder": {"cwd": str(folder.parent)},
        "a relative folder": {"cwd": "project"},
        "a folder that is missing": {"cwd": "/nowhere"},
        "no other folder": {"additionalDirectories": ["/nowhere"]},
        "a folder in the folder": {"additionalDirectories": [str(folder / "inside")]},
        "no text": {"additionalDirectories": [1]},
        "no server": {"mcpServers": [{"bad": 1}]},
        "one server twice": {"mcpServers": [PROGRAM, PROGRAM]},
        "a server without a name": {"mcpServers": [{**PROGRAM, "name": ""}]},
        "a server over the connection": {"mcpServers": [{"type": "acp", "name": "x", "id": "1", "serverId": "1"}]},
    }


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume", "session/fork"])
async def test_a_request_that_is_refused_leaves_no_session_and_closes_none(
    tmp_path: Path, folder: Path, method: str
) -> None:
    async with (
        ModelServer([Turn(text="One."), Turn(text="Two.")]) as server,
        connect(Editor(), tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("hi"))
        right = {"cwd": str(folder), "mcpServers": [], "sessionId": session.session_id}
        wrong = list_wrong_openings(folder)
        if method == "session/new":
            del right["sessionId"], wrong["another folder"]
        for what, given in wrong.items():
            with pytest.raises(RequestError) as refused:
                await connection._conn.send_request(method, {**right, **given})
            assert refused.value.code == -32602, what
        assert list_tasks(tmp_path) == [session.session_id]
        assert (await connection.prompt(session_id=session.session_id, prompt=prompt("more"))).stop_reason == "end_turn"


async def test_a_copy_that_cannot_be_opened_is_deleted(tmp_path: Path, folder: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text('[[turn]]\ntext = "Hello."\n')
    async with connect(Editor(), tmp_path, "-m", f"scripted/{script}") as connection:
        _, session = await begin(connection, folder)
        await connection.prompt(session_id=session.session_id, prompt=prompt("hi"))
        script.unlink()
        with pytest.raises(RequestError, match="script"):
            await connection.fork_session(session_id=session.session_id, cwd=str(folder))
    assert list_tasks(tmp_path) == [session.session_id]


async def test_a_cursor_and_a_model_that_are_none_are_refused(tmp_path: Path, folder: Path) -> None:
    async with (
        ModelServer([]) as server,
        connect(Editor(), tmp_path, "-m", "openai/x", "--base-url", server.url("openai")) as connection,
    ):
        _, session = await begin(connection, folder)
        for cursor in ("x", "-1", "1.5", "9" * 10, " "):
            with pytest.raises(RequestError, match="is not a cursor") as refused:
                await connection.list_sessions(cursor=cursor)
            assert refused.value.code == -32602
        for model in ("", " "):
            with pytest.raises(RequestError, match="The model has no name") as refused:
                await connection.set_config_option(config_id="model", session_id=session.session_id, value=model)
            assert refused.value.code == -32602


@pytest.mark.parametrize("name", ["a b/c", "github.com/owner/repo", "Büro", "x" * 60])
def test_a_server_keeps_its_name(name: str) -> None:
    (server,) = read_servers([schema.McpServerStdio(name=name, command="x", args=[], env=[])])
    assert server.name == name


def test_all_lists_whose_items_the_sdk_leaves_out_are_checked() -> None:
    requests = [getattr(router, name) for name in dir(router) if name.endswith("Request")]
    lenient = {
        field
        for request in requests
        for name, validator in request.__pydantic_decorators__.field_validators.items()
        if name.startswith("_skip_invalid_items")
        for field in validator.info.fields
    }
    assert lenient == {"mcp_servers", "additional_directories"}
    assert find_left_out({"mcpServers": [PROGRAM], "additionalDirectories": ["/x"]}) == ""
    assert find_left_out({"mcpServers": [{**PROGRAM, "env": [{"name": "KEY", "value": 5}]}]}) == (
        "mcpServers[0] is invalid: env.0.value: Input should be a valid string"
    )
    for params in (None, [], {}, {"mcpServers": None}, {"mcpServers": "x"}):
        assert find_left_out(params) == ""
