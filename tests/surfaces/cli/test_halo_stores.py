import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo, call

WRITES = {
    "call": [
        call("read_file", files=[{"path": "note.txt"}, {"path": "b.txt"}]),
        call("write_to_file", path="note.txt", content="after\n"),
        call("write_to_file", path="b.txt", content="b\n"),
    ]
}
DIES = (
    "import os, signal, sys\n"
    "from halocline.__main__ import main\n"
    "real = os.replace\n"
    "def replace(source, target, **named):\n"
    "    if os.path.basename(os.fsencode(source)).startswith(b'.halo-'):\n"
    "        real(source, target, **named)\n"
    "        os.kill(os.getpid(), signal.SIGKILL)\n"
    "    return real(source, target, **named)\n"
    "os.replace = replace\n"
    "sys.argv[0] = 'halo'\n"
    "main()\n"
)
"""halo, killed after it replaced the first file of the folder that it is in."""


async def half_restored(halo: Halo) -> str:
    """Kill a restore after it changed the first of two files. Gives the task's name."""
    (halo.folder / "note.txt").write_text("before\n")
    (halo.folder / "b.txt").write_text("before\n")
    done = await halo.run("-y", "-p", "-m", halo.script(WRITES, {"text": "Hello."}), "write two notes")
    assert done.code == 0, done.err
    task = halo.tasks[-1]
    words = [sys.executable, "-c", DIES, "checkpoints", "restore", f"{task}/1", "--yes"]
    died = subprocess.run(words, cwd=halo.folder, env=halo.env, check=False, capture_output=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert sorted(texts(halo)) == ["after\n", "before\n"] or sorted(texts(halo)) == ["b\n", "before\n"]
    return task


def texts(halo: Halo) -> list[str]:
    return [(halo.folder / name).read_text() for name in ("note.txt", "b.txt")]


async def test_half_a_restore_is_said_by_tasks_storage_and_doctor_and_taken_back_when_asked(halo: Halo) -> None:
    await half_restored(halo)
    assert f"A restore of {halo.folder} was interrupted" in (await halo.run("tasks", "list")).err
    assert "A restore was interrupted here" in (await halo.run("storage")).out
    assert json.loads((await halo.run("storage", "--json")).out)["stores"][0]["is_half_restored"] is True
    found = " ".join((await halo.run("doctor")).out.split())
    assert f"– stores A restore of {halo.folder} was interrupted" in found
    assert "before\n" in texts(halo)
    mended = " ".join((await halo.run("doctor", "--fix")).out.split())
    assert "It was undone; the files are as before it." in mended
    assert texts(halo) == ["after\n", "b\n"]
    assert (await halo.run("tasks", "list")).err == ""
    reports = (await halo.run("doctor")).out + (await halo.run("storage")).out
    assert "cut short" not in reports
    assert "interrupted" not in reports


async def test_the_next_task_takes_back_half_a_restore(halo: Halo) -> None:
    await half_restored(halo)
    done = await halo.run("-y", "-p", "-m", halo.script({"text": "Hello."}, name="other"), "say hello")
    assert done.code == 0, done.err
    assert texts(halo) == ["after\n", "b\n"]


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(b"\0garbage\xff"),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "another form": lambda path: path.write_text('["changes"]'),
    "deep": lambda path: path.write_text("[" * 100_000),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link to nowhere": lambda path: (path.unlink(), path.symlink_to("nowhere")),
}


@pytest.mark.parametrize("damage", UNREADABLE)
async def test_a_journal_of_a_restore_that_cannot_be_read_stops_nothing_and_is_put_aside_in_words(
    halo: Halo, damage: str
) -> None:
    task = await half_restored(halo)
    (journal,) = halo.home.glob("checkpoints/*/restoring.json")
    UNREADABLE[damage](journal)
    done = await halo.run("-y", "-p", "-m", halo.script({"text": "Hello."}, name="other"), "say hello")
    assert (done.code, "Traceback" in done.err) == (0, False), done.err
    assert "its journal cannot be read" in done.err
    assert not os.path.lexists(journal)
    assert len([*journal.parent.glob("restoring.json.damaged-*")]) == 1
    assert (await halo.run("checkpoints", "restore", f"{task}/1", "--yes", "--overwrite")).code == 0
    assert texts(halo) == ["before\n", "before\n"]


@pytest.mark.parametrize("words", ["checkpoints list", "checkpoints diff TASK/1", "doctor --fix"])
async def test_whoever_opens_the_store_first_says_that_a_journal_cannot_be_read(halo: Halo, words: str) -> None:
    task = await half_restored(halo)
    (journal,) = halo.home.glob("checkpoints/*/restoring.json")
    journal.write_bytes(b"")
    done = await halo.run(*words.replace("TASK", task).split())
    assert "its journal cannot be read" in " ".join((done.out + done.err).split())
    assert not journal.exists()


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


async def test_the_doctor_says_which_stores_need_the_projects_git_and_copies_what_they_need(halo: Halo) -> None:
    (halo.folder / "a.txt").write_text("of the project\n")
    git(halo.folder, "init", "-q")
    git(halo.folder, "add", ".")
    git(halo.folder, "commit", "-qm", "first")
    await halo.run("-y", "-p", "-m", halo.script(WRITES, {"text": "Hello."}), "write two notes")
    (store,) = (path.parent for path in halo.home.glob("checkpoints/*/HEAD"))
    for path in store.glob("objects/pack/*"):
        path.chmod(0o600)
        path.unlink()
    (store / "objects" / "info" / "alternates").write_text(
        f"{halo.folder / '.git' / 'objects'}\n"
    )  # as a kill leaves it
    assert "only in the project's Git" in " ".join((await halo.run("storage")).out.split())
    found = " ".join((await halo.run("doctor")).out.split())
    assert f"– stores Checkpoints of {halo.folder} still need the project's git" in found
    assert "none needs the project's git" in " ".join((await halo.run("doctor", "--fix")).out.split())
    task = halo.tasks[-1]
    shutil.rmtree(halo.folder)
    halo.folder.mkdir()
    done = await halo.run("checkpoints", "restore", f"{task}/1", "--yes", "--overwrite")
    assert (done.code, (halo.folder / "a.txt").read_text()) == (0, "of the project\n")
