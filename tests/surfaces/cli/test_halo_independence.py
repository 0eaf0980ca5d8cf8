"""What a run saved outlives the project and every git that it came from, however short the run, whatever its form."""

import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.cli.halo_process import Halo, call

pytestmark = pytest.mark.slow

EDIT = {"call": [call("write_to_file", path="note.txt", content="after\n")]}
TWICE = {"call": [call("read_file", path="f1.txt"), call("write_to_file", path="f1.txt", content="once\n")]}, EDIT
COMMAND = {"call": [call("execute_command", command="echo by a command > made.txt; rm f2.txt")]}
COLLECTED = {"call": [call("execute_command", command="git reset -q --hard HEAD~1; git gc -q --prune=now")]}
SLEPT = {"call": [call("execute_command", command="sleep 5; echo late > late.txt")]}
END = {"text": "Done."}
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *IDENTITY, *words], cwd=folder, check=True, capture_output=True)


def filled(folder: Path, count: int = 20) -> None:
    """A repository with two commits."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    for name in ("first", "second"):
        for n in range(count):
            place = folder / ("sub" if n % 3 == 0 else "") / f"f{n}.txt"
            place.parent.mkdir(exist_ok=True)
            place.write_text(f"{name} {n}\n")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", name)


def in_a_folder(project: Path, lender: Path) -> None:
    filled(project)


def with_many_files(project: Path, lender: Path) -> None:
    filled(project, 2_000)


def packed_clone(project: Path, lender: Path) -> None:
    filled(lender)
    git(lender, "gc", "-q")
    project.rmdir()
    git(lender, "clone", "-q", "--no-local", str(lender), str(project))


def clone_with_alternates(project: Path, lender: Path) -> None:
    filled(lender)
    project.rmdir()
    git(lender, "clone", "-q", "--shared", str(lender), str(project))


def shallow_clone(project: Path, lender: Path) -> None:
    filled(lender)
    project.rmdir()
    git(lender, "clone", "-q", "--depth", "1", f"file://{lender}", str(project))


def worktree(project: Path, lender: Path) -> None:
    filled(lender)
    project.rmdir()
    git(lender, "worktree", "add", "-q", "--detach", str(project))


def without_git(project: Path, lender: Path) -> None:
    for n in range(5):
        (project / f"f{n}.txt").write_text(f"plain {n}\n")


Turn = Mapping[str, Any]
CASES: list[tuple[Callable[[Path, Path], None], tuple[Turn, ...]]] = [
    (in_a_folder, (END,)),
    (in_a_folder, (*TWICE, END)),
    (in_a_folder, (COMMAND, EDIT, END)),
    (in_a_folder, (EDIT, COLLECTED, END)),
    (in_a_folder, (SLEPT, END)),
    (with_many_files, (EDIT, COMMAND, END)),
    (packed_clone, (EDIT, COMMAND, END)),
    (clone_with_alternates, (*TWICE, END)),
    (shallow_clone, (EDIT, END)),
    (worktree, (EDIT, COMMAND, END)),
    (without_git, (EDIT, COMMAND, END)),
]


def files(folder: Path) -> dict[str, str]:
    places = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): path.read_text() for path in places}


@pytest.mark.parametrize(("shape", "turns"), CASES, ids=lambda one: getattr(one, "__name__", None))
async def test_all_files_of_every_checkpoint_come_back_without_the_project(
    halo: Halo, shape: Callable[[Path, Path], None], turns: tuple[Turn, ...]
) -> None:
    lender = halo.root / "lender"
    shape(halo.folder, lender)
    before = files(halo.folder)
    done = await halo.run("run", "-y", "-m", halo.script(*turns), "do it")
    assert done.code == 0, done.err
    after = files(halo.folder)
    for folder in (halo.folder, lender):
        shutil.rmtree(folder, ignore_errors=True)
    listed = (await halo.run("checkpoints", "list", "-C", str(make(halo.folder)))).out.splitlines()
    restored = []
    for number in range(1, len(listed) + 1):
        shutil.rmtree(halo.folder)
        make(halo.folder)
        done = await halo.run("checkpoints", "restore", f"{halo.tasks[-1]}/{number}", "--yes", "--overwrite")
        assert (done.code, done.err) == (0, "")
        restored.append(files(halo.folder))
    assert restored[0] == before
    assert after in restored
    assert "still need" not in (await halo.run("doctor")).out


def make(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def test_a_restore_that_lacks_contents_ends_with_an_error_that_names_them(halo: Halo) -> None:
    filled(halo.folder)
    done = await halo.run("run", "-y", "-m", halo.script(EDIT, END), "do it")
    assert done.code == 0, done.err
    for path in halo.home.glob("checkpoints/*/objects/pack/*"):
        path.unlink()
    shutil.rmtree(halo.folder)
    make(halo.folder)
    done = await halo.run("checkpoints", "restore", f"{halo.tasks[-1]}/1", "--yes", "--overwrite")
    assert done.code == 1
    assert "checkpoint" in done.err
    assert "already match that checkpoint" not in done.out
