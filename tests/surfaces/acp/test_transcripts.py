"""Conversations on the wire, one for each method of the protocol.

`>` is a line to the agent; `<` is the next line from it that has these fields. `$NAME` is kept when it is first met.
Whatever the agent writes must be valid for the SDK's models of the protocol, too.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from acp import schema
from acp.meta import AGENT_METHODS, CLIENT_METHODS
from pydantic import BaseModel
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import LARGEST_LINE, MODULE
from tests.surfaces.cli.forked import start_halo

from halocline.providers.scripted.script import Call, Turn

FILES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
TURNS = [
    Turn(thinking="Hm.", text="I'll write.", calls=(Call("write_to_file", {"path": "new.txt", "content": "one\n"}),)),
    Turn(text="Done."),
]
LIMIT = 60
RESULTS: dict[str, type[BaseModel]] = {
    "initialize": schema.InitializeResponse,
    "authenticate": schema.AuthenticateResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/fork": schema.ForkSessionResponse,
    "session/close": schema.CloseSessionResponse,
    "session/prompt": schema.PromptResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
}
NOTICES: dict[str, type[BaseModel]] = {
    "session/update": schema.SessionNotification,
    "session/request_permission": schema.RequestPermissionRequest,
    "fs/read_text_file": schema.ReadTextFileRequest,
    "fs/write_text_file": schema.WriteTextFileRequest,
}
NOTIFICATIONS = {"session/cancel"}
"""Methods of an agent that have no answer."""
REFUSED = {
    "session/delete",
    "logout",
    "mcp/message",
    *(f"providers/{word}" for word in ("list", "set", "disable")),
    *(f"nes/{word}" for word in ("start", "suggest", "accept", "reject", "close")),
    *(f"document/{word}" for word in ("didOpen", "didChange", "didClose", "didSave", "didFocus")),
}
"""Drafts that we do not offer, so that no client calls them: deleting tasks and signing out are for the terminal."""


def fill(value: Any, names: dict[str, Any]) -> Any:
    """Put what is known in the place of the names."""
    if isinstance(value, dict):
        return {key: fill(one, names) for key, one in value.items()}
    if isinstance(value, list):
        return [fill(one, names) for one in value]
    if isinstance(value, str) and value in names:
        return names[value]
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace(name, str(text)) if isinstance(text, str) else value
    return value


def fits(wanted: Any, found: Any, names: dict[str, Any]) -> bool:
    """Compare the fields that are wanted; keep what stands in the place of an unknown name."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and fits(one, found[key], names) for key, one in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(found, list) and all(fits(*pair, names) for pair in zip(wanted, found, strict=False))
    if isinstance(wanted, str) and wanted.startswith("$"):
        return bool(names.setdefault(wanted, found) == found)
    return bool(wanted == found)


def check_schema(message: Any, asked: dict[Any, str]) -> None:
    """Fail if the protocol's own models do not take a message of the agent."""
    if "method" in message:
        NOTICES[message["method"]].model_validate(message["params"])
    elif "result" in message:
        RESULTS[asked[message["id"]]].model_validate(message["result"])
    else:
        assert isinstance(message["error"]["code"], int)
        assert message["error"]["message"]


@pytest.mark.process
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_the_conversation_goes_as_written(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    names: dict[str, Any] = {"$FOLDER": str(folder), "$HOME": str(tmp_path)}
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HALOCLINE_HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
    }
    env["OPENAI_API_KEY"] = "sk-none"
    async with ModelServer(TURNS) as server:
        words = ("acp", "-m", "openai/x", "--base-url", server.url("openai"))
        process = await start_halo(words, env=env, cwd=tmp_path, limit=LARGEST_LINE, modules=[MODULE])
        assert process.stdin
        assert process.stdout
        asked: dict[Any, str] = {}
        async with asyncio.timeout(LIMIT):
            for line in file.read_text(encoding="utf-8").splitlines():
                if line.startswith("#"):
                    continue
                message = fill(json.loads(line[2:]), names)
                if line.startswith(">"):
                    asked[message.get("id")] = message.get("method", "")
                    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
                    continue
                passed: list[Any] = []
                while not passed or not fits(message, passed[-1], names):
                    answer = await process.stdout.readline()
                    assert answer, (message, passed, await process.stderr.read() if process.stderr else b"")
                    passed.append(json.loads(answer))
                    check_schema(passed[-1], asked)
                    assert (
                        "id" not in message or passed[-1].get("id") != message["id"] or fits(message, passed[-1], names)
                    ), (message, passed[-1])
            process.stdin.close()
            assert await process.wait() == 0


def test_every_method_of_the_protocol_is_handled_or_refused() -> None:
    assert {*AGENT_METHODS.values()} == {*RESULTS, *NOTIFICATIONS, *REFUSED}
    assert {*NOTICES} <= {*CLIENT_METHODS.values()}


def test_every_method_of_an_agent_has_a_transcript() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in FILES)
    assert [method for method in (*RESULTS, *NOTIFICATIONS, *REFUSED) if f'"{method}"' not in text] == []
