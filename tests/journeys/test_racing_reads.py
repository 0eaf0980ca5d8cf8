"""Whoever swaps a folder or a file for a link, as quickly as it goes, leads no way of reading or writing outside."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from tests.journeys.conftest import NO_SERVERS, Journey
from tests.journeys.test_reading import PIXEL
from tests.journeys.test_standings import MachineWith, is_there
from tests.swapping import renaming, swapping

from halocline.checkpoints.saved import Limits
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.client.tasks import Client
from halocline.protocol.events import ToolCallEnded
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="names are swapped in one step")]

READS = int(os.environ.get("READS", "40"))
"""How often each way of reading is tried; a thousand take some minutes."""
AT_ONCE = 10
CANARY = "canary_from_outside"
INSIDE = "text_from_inside"
ASK = TaskOptions(approval_mode=ApprovalMode.ASK)
OUTSIDE_PICTURE = PIXEL + b"outside"

CALLS = {
    "read_file": Call("read_file", {"path": "d/f.py"}),
    "a document": Call("read_file", {"path": "d/n.ipynb"}),
    "a picture": Call("read_file", {"path": "d/p.png"}),
    "search in all": Call("search_files", {"regex": "text_from|canary", "path": "."}),
    "search in a folder": Call("search_files", {"regex": "text_from|canary", "path": "d"}),
    "search in a file": Call("search_files", {"regex": "text_from|canary", "path": "d/f.py"}),
    "list_files": Call("list_files", {"path": "d"}),
    "list what is below": Call("list_files", {"path": ".", "recursive": True}),
    "definitions of a file": Call("list_code_definition_names", {"path": "d/f.py"}),
    "definitions of a folder": Call("list_code_definition_names", {"path": "."}),
    "definitions by name": Call("list_code_definition_names", {"path": ".", "name": "canary"}),
    "an edit that fails": Call("replace_in_file", {"path": "d/f.py", "old_text": "nowhere", "new_text": "x"}),
}
COMMANDS = ("cat d/f.py", "head -c 99 d/f.py", "grep -rn return d", "cat < d/f.py", "sed -n 1,9p d/f.py")
"""They open the names themselves when they run."""
EDITS = {
    "write_to_file": Call("write_to_file", {"path": "d/f.py", "content": "def shared():\n    return WRITTEN\n"}),
    "a new file": Call("write_to_file", {"path": "d/new.py", "content": "WRITTEN\n"}),
    "replace_in_file": Call(
        "replace_in_file", {"path": "d/f.py", "old_text": "return", "new_text": "return WRITTEN or"}
    ),
}
FLIPS = ("a folder and a link", "a file and a link", "a file renamed over a link")
HARD = "a file and a hard link of a secret"
MENTIONS = {
    "a file": "@d/f.py",
    "a folder": "@d/",
    "a picture": "@d/p.png",
    "a document": "@d/n.ipynb",
    "a symbol": "@symbol:shared",
}


@pytest.fixture
def journey(tmp_path) -> Journey:
    """One whose log is not replayed afterwards: where paths led at each moment, nobody knows any more."""
    return Journey(tmp_path)


@pytest.fixture
def ground(journey, tmp_path) -> Path:
    outside = tmp_path / "outside"
    for folder, said, picture in (
        (journey.workspace / "d", INSIDE, PIXEL),
        (outside, CANARY, OUTSIDE_PICTURE),
    ):
        folder.mkdir()
        (folder / "f.py").write_text(f"def shared():\n    return {said}\n\n\ndef {said}():\n    return 1\n")
        (folder / f"{said}.txt").write_text(f"{said}\n")
        (folder / "n.ipynb").write_text(json.dumps(notebook(said)))
        (folder / "p.png").write_bytes(picture)
    (journey.workspace / "d.link").symlink_to(outside)
    return journey.workspace / "d"


def notebook(said: str) -> dict[str, object]:
    cell = {"cell_type": "markdown", "metadata": {}, "source": [said]}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def assert_nothing_came_from_outside(journey) -> None:
    """Neither the log nor anything that is kept beside it has a word or a picture of what lies outside."""
    assert_clean(journey.home.root)
    for path in journey.home.root.rglob("*"):
        kept = path.read_bytes() if path.is_file() else b""
        assert kept != OUTSIDE_PICTURE
        assert sha256(OUTSIDE_PICTURE).hexdigest().encode() not in kept


def assert_clean(kept: Path) -> None:
    """No file has a word of what lies outside, and no object of a store has, packed as they are."""
    for path in kept.rglob("*"):
        assert CANARY.encode() not in path.name.encode() + (path.read_bytes() if path.is_file() else b"")
    for head in kept.rglob("HEAD"):
        objects = subprocess.run(
            ["git", f"--git-dir={head.parent}", "cat-file", "--batch-all-objects", "--batch"],
            capture_output=True,
            check=True,
        )
        assert CANARY.encode() not in objects.stdout
        assert b"outside" not in objects.stdout.replace(os.fsencode(kept.parent / "outside"), b"")


def turns(call: Call) -> list[Turn]:
    """Calls of which no two neighbours are spelt alike, so that none counts as a repetition."""
    spelt = [call.arguments | {"path": "./" * (number % 7) + call.arguments["path"]} for number in range(READS)]
    calls = [Call(call.tool, arguments, id=f"c{number}") for number, arguments in enumerate(spelt)]
    return [*(Turn(calls=tuple(calls[at : at + AT_ONCE])) for at in range(0, READS, AT_ONCE)), Turn(text="done")]


@pytest.mark.parametrize("way", CALLS)
async def test_no_tool_gives_what_lies_outside(journey, ground, way):
    journey.longest = 900
    with swapping(ground, Path(f"{ground}.link")):
        await journey.run(*turns(CALLS[way]), options=ASK, image_models=("scripted*",), max_failures=100_000)
    assert len(journey.ends) == READS
    assert_nothing_came_from_outside(journey)


@contextmanager
def flipping(kind: str, folder: Path, outside: Path) -> Iterator[None]:
    """Change what a name leads to while a task works with it."""
    file, link = folder / "f.py", folder / "f.py.link"
    match kind:
        case "a folder and a link":
            with swapping(folder, Path(f"{folder}.link")):
                yield
        case "a file and a link":
            link.symlink_to(outside / "f.py")
            with swapping(file, link):
                yield
        case "a file renamed over a link":
            with renaming(file, outside / "f.py"):
                yield
        case _:
            secret = folder.parent / ".env"
            secret.write_text(f"{CANARY} = 'return'\n")
            (folder / ".env.d").mkdir()
            os.link(secret, folder / ".env.d" / "id_rsa")
            with swapping(file, folder / ".env.d" / "id_rsa"):
                yield


def spell(command: str, number: int) -> str:
    """The same command in other words."""
    return f"{command}{' ' * (number % 7)}# {number}"


@pytest.mark.parametrize("flip", FLIPS)
@pytest.mark.parametrize("command", COMMANDS)
async def test_no_sandboxed_command_that_reads_shows_what_lies_outside(journey, ground, tmp_path, command, flip):
    """Without a sandbox, a program may be led outside in those milliseconds, as the page on security says."""
    if not is_there("bubblewrap", tmp_path):
        pytest.skip("this machine has no bubblewrap")
    journey.longest = 900
    spelt = [Call("execute_command", {"command": spell(command, n)}, id=f"c{n}") for n in range(READS)]
    script = [Turn(calls=tuple(spelt[at : at + AT_ONCE])) for at in range(0, READS, AT_ONCE)]
    settings = Settings(sandbox="auto", language_servers=NO_SERVERS, max_failures=100_000)
    assembly = MachineWith(journey.home, settings, (*script, Turn(text="done")), {"PATH": os.environ["PATH"]})
    assembly.backend = "bubblewrap"
    options = TaskOptions(approval_mode=ApprovalMode.AUTO, attended=False)
    with flipping(flip, ground, tmp_path / "outside"):
        await journey.run(client=Client(Controller(assembly), "test"), options=options)
    said = "".join(str(one.result) for one in journey.events if isinstance(one, ToolCallEnded))
    assert INSIDE in said
    assert_not_logged(journey)


@pytest.mark.parametrize("flip", [*FLIPS[1:], HARD])
@pytest.mark.parametrize("way", ["read_file", "search in all", "search in a file", "definitions of a file"])
async def test_no_tool_gives_what_lies_behind_a_file_that_changes(journey, ground, tmp_path, way, flip):
    journey.longest = 900
    with flipping(flip, ground, tmp_path / "outside"):
        await journey.run(*turns(CALLS[way]), options=ASK, max_failures=100_000)
    assert len(journey.ends) == READS
    assert_not_logged(journey)


@pytest.mark.parametrize("flip", [*FLIPS, HARD])
@pytest.mark.parametrize("way", EDITS)
async def test_no_edit_is_written_outside(journey, ground, tmp_path, way, flip):
    journey.longest = 900
    outside = tmp_path / "outside"
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    with flipping(flip, ground, outside):
        options = TaskOptions(approval_mode=ApprovalMode.ACCEPT_EDITS)
        reads = tuple(Call("read_file", {"path": f"{'./' * at}d/f.py"}, id=f"r{at}") for at in range(AT_ONCE))
        await journey.run(Turn(calls=reads), *turns(EDITS[way]), options=options, max_failures=100_000)
    assert len(journey.ends) == READS + AT_ONCE
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before
    assert all("WRITTEN" not in path.read_text() for path in journey.workspace.rglob(".env"))
    assert_not_logged(journey)


def assert_not_logged(journey) -> None:
    """A checkpoint keeps the files of the folder, whatever they hold; a card shows what it asks about."""
    lines = [line for line in journey.home.log(journey.task).read_bytes().splitlines() if CANARY.encode() in line]
    assert [line for line in lines if not line.startswith(b'{"type":"approval_requested"')] == []


@pytest.mark.parametrize("way", MENTIONS)
async def test_no_mention_gives_what_lies_outside(journey, ground, way):
    journey.longest = 900
    client = journey.client([Turn(text="done")] * READS, image_models=("scripted*",))
    try:
        await journey.open(client, ASK)
        with swapping(ground, Path(f"{ground}.link")):
            for _ in range(READS):
                await journey.prompt(client, MENTIONS[way])
    finally:
        await client.close()
    assert_nothing_came_from_outside(journey)


async def test_no_checkpoint_keeps_what_lies_outside(tmp_path):
    workspace, outside = tmp_path / "project", tmp_path / "outside"
    for folder, said in ((workspace / "d", INSIDE), (outside, CANARY)):
        for below in ("", "deeper", f"{said}_folder"):
            (folder / below).mkdir(parents=True, exist_ok=True)
            for number in range(30):
                (folder / below / f"{number}.txt").write_text(f"{said} {number}")
                (folder / below / f"{said}{number}.txt").write_text(said)
        (folder / f"{said}_repository" / ".git").mkdir(parents=True)
        (folder / f"{said}.bin").write_bytes(said.encode() * 1_000)
    (workspace / "d.link").symlink_to(outside)
    told = []
    shadow = ShadowGit(tmp_path / "home", workspace, "t1", limits=Limits(largest=10_000), delay=0, home=tmp_path)
    with swapping(workspace / "d", workspace / "d.link"):
        shadow.begin(told.append)
        for number in range(READS):
            for name in range(60):
                (workspace / f"{name}.txt").write_text(f"{number} {name}")
            shadow.take(f"command {number}", [f"d/{number}.txt"] if number % 4 == 1 else None)
            if number % 4 == 3:
                await shadow.plan("1")
            await shadow.settle()
    await shadow.close()
    assert CANARY not in repr(told)
    assert_clean(tmp_path / "home")
