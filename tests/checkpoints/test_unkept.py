"""What the policy asks about before it is lost, and what a checkpoint really holds, are the same files."""

import os
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, git

from halocline.checkpoints.saved import Limits
from halocline.checkpoints.selection.sizes import SMALL
from halocline.checkpoints.unkept import find_unkept

LARGEST = 300_000
FILES = {
    ".gitignore": "*.log\n/private\n!kept.log\ndeep/*\n!deep/kept.txt\n!dist/kept.js\nTrailing/\n",
    ".clineignore": "hidden/\n*.hide\n",
    "a/.gitignore": "# a comment\nlocal.txt\n!again.log\n",
    ".git/info/exclude": "excluded.txt\n",
    **dict.fromkeys(
        (
            *("plain.txt", "name with space.txt", "ü.txt", "x.log", "kept.log", "private/in.txt", "a/private"),
            *("deep/in.txt", "deep/kept.txt", "dist/kept.js", "dist/app.js", "a/local.txt", "b/local.txt"),
            *("a/again.log", "a/other.log", "hidden/in.txt", "b/x.hide", "excluded.txt", "Trailing", "a/Trailing/in"),
            *(".env", "b/.env.local", "server.key", "logo.png", "node_modules/m/index.js", "b/build/out.o", "globally"),
            *("src/__pycache__/a.pyc", "data.sqlite3", "BUILD/in.txt", "x.LOG", ".env.example", "b/.halocline/x"),
        ),
        "text\n",
    ),
    "large.txt": "x" * (LARGEST + 1),
    "as large as may be.txt": "x" * LARGEST,
    "as large as may be.png": "x" * SMALL,
    "large.PNG": "x" * (SMALL + 1),
}
TRACKED = {
    "forced.log": "text\n",
    "private/forced.txt": "text\n",
    "hidden/forced.txt": "text\n",
    "node_modules/forced/index.js": "text\n",
    "forced.key": "text\n",
    "forced.png": "x" * (SMALL + 1),
    "forced.txt": "x" * (LARGEST + 1),
}


@pytest.fixture
def filled(bench: Bench) -> Bench:
    git(bench.workspace, "init", "-q")
    for path, text in (FILES | TRACKED).items():
        bench.write(path, text)
    git(bench.workspace, "add", "-f", *TRACKED)
    git(bench.workspace, "init", "-q", "vendored")
    bench.write("vendored/in.txt", "text\n")
    bench.write("linked/to.txt", "text\n")
    (bench.workspace / "link").symlink_to("linked/to.txt")
    (bench.workspace / "dangling.log").symlink_to("nowhere")
    return bench


async def test_each_file_is_asked_about_exactly_if_no_checkpoint_holds_it(filled: Bench) -> None:
    await filled.begun(limits=Limits(seconds=30, largest=LARGEST))
    saved = filled.saved(1)
    below = (Path(place, name) for place, _, names in os.walk(filled.workspace) for name in names)
    names = {os.path.relpath(path, filled.workspace) for path in below}
    there = {name for name in names if not name.startswith((".git/", "vendored/.git/"))}
    unkept = {name for name in there if find_unkept([str(filled.workspace / name)], [str(filled.workspace)], LARGEST)}
    assert {"plain.txt", "a/again.log", "link", "dist/app.js", "logo.png"} <= saved
    assert saved & {*TRACKED} == {"forced.log", "private/forced.txt", "node_modules/forced/index.js", "forced.png"}
    assert unkept == there - saved


@pytest.mark.parametrize("folder", ["", "a", "b", "deep", "dist", "hidden", "vendored", "linked", "private"])
async def test_a_folder_is_asked_about_exactly_if_something_in_it_is_lost(filled: Bench, folder: str) -> None:
    await filled.begun(limits=Limits(seconds=30, largest=LARGEST))
    place = filled.workspace / folder
    files = {os.path.relpath(Path(at, name), filled.workspace) for at, _, names in os.walk(place) for name in names}
    found = find_unkept([str(place)], [str(filled.workspace)], LARGEST)
    assert bool(found) is (folder == "" or not files <= filled.saved(1))
