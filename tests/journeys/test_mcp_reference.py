"""The reference servers, which nobody here wrote, in whole tasks: four programs, two languages, both protocols."""

import json
import subprocess

import pytest
from tests.mcp.http import serving
from tests.mcp.set_up import MISSING, program, search_path

from halocline.providers.scripted.model import Call, Turn
from halocline.store.settings.sections import McpSettings

DONE = Turn(text="done")


@pytest.fixture
def servers(journey):
    """Sets up a reference server by the name of its program, or skips."""
    journey.env = {"HOME": str(journey.workspace.parent / "person"), "PATH": search_path()}
    journey.longest = 60

    def write(**servers):
        entries = {}
        for name, (called, *words) in servers.items():
            if (found := program(called)) is None:
                pytest.skip(MISSING)
            entries[name] = {"command": str(found), "args": words}
        journey.home.mcp.write_text(json.dumps({"mcpServers": entries}))

    return write


def calls(name, **arguments):
    return Turn(calls=(Call(name, arguments, id="c1"),))


PATIENT = McpSettings(wait=40, share=1)


async def test_git_tells_the_history_of_the_workspace(journey, servers):
    servers(git=("mcp-server-git",))
    git = ["git", "-C", str(journey.workspace), "-c", "user.name=A", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a first commit"], check=True)
    turn = calls("git__git_log", repo_path=str(journey.workspace))
    await journey.run(turn, DONE, mcp=PATIENT)
    assert "a first commit" in journey.results[0]


async def test_time_converts_between_zones(journey, servers):
    servers(time=("mcp-server-time",))
    turn = calls("time__convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo")
    await journey.run(turn, DONE, mcp=PATIENT)
    assert "21:00" in journey.results[0]


async def test_fetch_reads_a_page(journey, servers):
    servers(fetch=("mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"))

    async def page(scope, receive, send):
        if scope["type"] == "http":
            head = [(b"content-type", b"text/html")]
            await send({"type": "http.response.start", "status": 200, "headers": head})
            await send({"type": "http.response.body", "body": b"<h1>A page</h1><p>of words</p>"})

    async with serving(page) as url:
        await journey.run(calls("fetch__fetch", url=url), DONE, mcp=PATIENT)
    assert "of words" in journey.results[0]


async def test_filesystem_reads_in_the_folder_that_it_is_told_of_as_a_root(journey, servers):
    servers(files=("mcp-server-filesystem", str(journey.workspace)))
    journey.write("note.txt", "inside the note")
    await journey.run(calls("files__read_text_file", path=str(journey.workspace / "note.txt")), DONE, mcp=PATIENT)
    assert journey.results == ["inside the note"]


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("echo", {"message": "over"}, "Echo: over"),
        ("get-sum", {"a": 2, "b": 3}, "5"),
        ("simulate-research-query", {"topic": "tides"}, "# Research Report: tides"),
        ("get-tiny-image", {}, "[image that cannot be shown, as its data is damaged, image/png"),
    ],
)
async def test_everything_does_what_its_tools_say(journey, servers, tool, arguments, expected):
    servers(all=("mcp-server-everything",))
    await journey.run(calls(f"all__{tool}", **arguments), DONE, mcp=PATIENT)
    assert expected in journey.results[0]
