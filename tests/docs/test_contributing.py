"""Each page of `docs/contributing` is followed to the letter, in a copy of the package, and what it makes is used."""

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.followed_pages import ROOT, follow_page
from tests.servers.model_server import ModelServer
from tests.surfaces.cli.forked import HALO
from tests.surfaces.cli.halo_process import Done, Halo
from tests.surfaces.cli.test_halo_terminal import COMPOSER, CTRL_D, HI, Person

from halocline.providers.scripted.script import Call, Turn

pytestmark = [pytest.mark.slow, pytest.mark.process]
HELLO = Turn(text="Hello from Acme.")
WRITES_AND_READS = """
import sys
from pathlib import Path
from halocline.protocol import events as ev
from halocline.protocol.state.reducer import fold_events
from halocline.task.log import Log, read_log
log = Log(Path(sys.argv[1]), "task")
log.load()
log.append(ev.BookmarkSet(text="here"))
log.close()
read = list(read_log(log.path))
print([event.text for event in read], fold_events(read).labels.tags)
"""


@pytest.fixture
def followed(halo: Halo, tmp_path: Path, request: pytest.FixtureRequest) -> Halo:
    """`halo` with what a page adds to it. The test has the name of the page."""
    name = re.sub("test_an?_(.*)_that_is_added.*", r"\1", request.function.__name__).replace("_", "-")
    halo.env |= follow_page(ROOT / "docs" / "contributing" / f"{name}.md", tmp_path / "copy")
    return halo


async def run_halo(halo: Halo, *words: str, **env: str) -> Done:
    """Run `halo` of the copy: a process of its own, as those that tests fork have imported the package."""
    process = await asyncio.create_subprocess_exec(
        *HALO,
        *words,
        cwd=halo.folder,
        env=halo.env | env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    return Done(process.returncode or 0, out.decode(), err.decode())


async def test_a_tool_that_is_added_is_offered_and_runs(followed: Halo) -> None:
    turns = [Turn(calls=(Call("reverse_text", {"text": "abc"}),)), Turn(text="It is cba.")]
    async with ModelServer(turns) as server:
        base = server.url("openai")
        done = await run_halo(followed, "-p", "-y", "-m", "openai/x", "--base-url", base, "reverse abc")
        first, second = (request.body for request in server.requests)
    assert (done.code, done.out) == (0, "It is cba.\n"), done.err
    assert "reverse_text" in [tool["function"]["name"] for tool in first["tools"]]
    assert second["messages"][-1]["content"] == "cba"


async def test_a_vendor_that_is_added_answers(followed: Halo) -> None:
    for vendor, family, key in (("acme", "openai", "ACME_API_KEY"), ("acme-claude", "anthropic", "ACME_CLAUDE_KEY")):
        async with ModelServer([HELLO], key="secret") as server:
            words = ("-p", "-m", f"{vendor}/large", "--base-url", server.url(family), "hi")
            done = await run_halo(followed, *words, **{key: "secret"})
        assert (done.code, done.out) == (0, "Hello from Acme.\n"), done.err
        assert f"`{vendor}`" in (followed.root / "copy/docs/reference/providers.md").read_text()


def test_a_slash_command_that_is_added_is_offered_and_answered(followed: Halo) -> None:
    person = Person(followed, "-m", followed.script(HI), forks=False).sees(COMPOSER)
    person.types("/count one two\r").sees("2 words.", COMPOSER)
    person.types("/help\r").sees("/count TEXT", "count words", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


async def test_a_setting_that_is_added_is_read_and_shown(followed: Halo) -> None:
    assert (await run_halo(followed, "config", "get", "greeting")).out == "Hello\n"
    followed.home.mkdir(exist_ok=True)
    (followed.home / "settings.toml").write_text('greeting = "Good day"\n')
    assert (await run_halo(followed, "config", "get", "greeting", "--explain")).out == "Good day  (settings.toml)\n"
    (listed,) = (await run_halo(followed, "config", "list", "greeting", "--json")).lines
    assert (listed["section"], listed["doc"]) == ("Prompt", "Words that a task begins with.")


def test_an_event_that_is_added_is_written_folded_and_read_back(followed: Halo, tmp_path: Path) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    command = [sys.executable, "-c", WRITES_AND_READS, str(folder)]
    done = subprocess.run(command, env=followed.env, capture_output=True, text=True, check=True)
    assert done.stdout == "['here'] ('here',)\n"
    assert json.loads((folder / "events.jsonl").read_text())["type"] == "bookmark_set"


async def test_a_surface_that_is_added_shows_rows(followed: Halo) -> None:
    assert (await run_halo(followed, "-p", "-m", followed.script(HI), "hi there")).code == 0
    shown = await run_halo(followed, "ticker", *followed.tasks)
    assert shown.code == 0, shown.err
    assert [line for line in shown.out.splitlines() if "hi there" in line and line.startswith("PromptRow")]
    assert [line for line in shown.out.splitlines() if "Hello." in line and line.startswith("ReplyRow")]
