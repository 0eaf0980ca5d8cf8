import asyncio
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.checkpoints.bench import LONG_AGO, Bench, contents, counted_git, git

from halocline.checkpoints.saved import Limits
from halocline.checkpoints.store import foreign_index
from halocline.checkpoints.store.suspects import build_suspicion

EXCLUDES = Path(foreign_index.__file__).with_name("never.txt")


def committed(bench: Bench, **files: str) -> None:
    """A project whose git knows these files; their names are given with `__` for a slash."""
    git(bench.workspace, "init", "-q")
    for name, text in files.items():
        bench.write(name.replace("__", "/") + ".txt", text)
    # Of files as old as these git believes its index, and does not look into them.
    for path in bench.workspace.glob("**/*.*"):
        os.utime(path, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    git(bench.workspace, "add", "-A")
    git(bench.workspace, "commit", "-qm", "first")


def stored(bench: Bench) -> set[str]:
    """The names of the loose objects and packs that the store has of its own."""
    folder = bench.repository / "objects"
    return {path.name for path in folder.rglob("*") if path.is_file() and path.parent.name != "info"}


def text(bench: Bench, n: int, path: str) -> str:
    return git(bench.workspace, f"--git-dir={bench.repository}", "cat-file", "blob", f"refs/halocline/t1/{n}:{path}")


async def test_what_the_projects_git_holds_is_not_stored_again(bench: Bench) -> None:
    committed(bench, a="one", deep__b="two")
    before = contents(bench.workspace / ".git")
    await bench.begun()
    assert bench.saved(1) == {"a.txt", "deep/b.txt"}
    # The commit alone.
    assert len(stored(bench)) == 1
    assert contents(bench.workspace / ".git") == before


async def test_borrowed_folders_are_asked_for_once(bench: Bench, tmp_path: Path) -> None:
    committed(bench, a="one", deep__b="two")
    program, asked = counted_git(tmp_path)
    shadow = await bench.begun(program=str(program))
    for text in ("three", "four"):
        bench.write("deep/b.txt", text)
        asked.write_text("")
        shadow.take(text)
        await shadow.settle()
    assert asked.read_text().split() == ["ls-files", "ls-files"]


async def test_edits_staged_deleted_and_new_files_are_saved_as_they_are_on_the_disk(bench: Bench) -> None:
    committed(bench, a="one", gone="gone", staged="old")
    bench.write("staged.txt", "in the index")
    git(bench.workspace, "add", "staged.txt")
    bench.write("staged.txt", "on the disk")
    bench.write("a.txt", "two")
    bench.write("new.txt", "new")
    (bench.workspace / "gone.txt").unlink()
    await bench.begun()
    assert bench.saved(1) == {"a.txt", "staged.txt", "new.txt"}
    assert (text(bench, 1, "a.txt"), text(bench, 1, "staged.txt")) == ("two", "on the disk")


async def test_an_edit_within_the_moment_of_the_projects_commit_is_seen(bench: Bench) -> None:
    committed(bench, a="one")
    file, index = bench.workspace / "a.txt", bench.workspace / ".git" / "index"
    file.write_text("two")
    os.utime(file, (LONG_AGO, LONG_AGO))
    # As if the index had been written between the two contents, within one tick of the clock.
    info = file.stat()
    times = (*divmod(info.st_ctime_ns, 10**9), *divmod(info.st_mtime_ns, 10**9))
    data = index.read_bytes()[:-20]
    data = data[:12] + b"".join(number.to_bytes(4, "big") for number in times) + data[28:]
    index.write_bytes(data + hashlib.sha1(data, usedforsecurity=False).digest())
    os.utime(index, ns=(info.st_mtime_ns, info.st_mtime_ns))
    await bench.begun()
    assert text(bench, 1, "a.txt") == "two"


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
async def test_a_file_that_the_projects_git_was_told_not_to_look_at_is_looked_at(bench: Bench, flag: str) -> None:
    committed(bench, a="one", b="b")
    git(bench.workspace, "update-index", flag, "a.txt")
    bench.write("a.txt", "two, and longer")
    await bench.begun()
    assert text(bench, 1, "a.txt") == "two, and longer"


async def test_a_conflict_in_the_projects_index_is_no_hindrance(bench: Bench) -> None:
    committed(bench, a="one")
    git(bench.workspace, "checkout", "-qb", "other")
    bench.write("a.txt", "theirs")
    git(bench.workspace, "commit", "-qam", "theirs")
    git(bench.workspace, "checkout", "-q", "-")
    bench.write("a.txt", "ours")
    git(bench.workspace, "commit", "-qam", "ours")
    with pytest.raises(subprocess.CalledProcessError):
        git(bench.workspace, "merge", "other")
    await bench.begun()
    assert text(bench, 1, "a.txt").startswith("<<<<<<<")


async def test_secrets_that_the_project_keeps_stay_out_but_not_what_tools_make(bench: Bench) -> None:
    bench.write(".env", "KEY=1")
    bench.write("node_modules/m/app.js", "built")
    bench.write("logo.png", "png")
    committed(bench, a="one")
    await bench.begun()
    assert bench.saved(1) == {"a.txt", "logo.png", "node_modules/m/app.js"}


async def test_a_large_file_that_the_project_keeps_stays_out_and_is_told(bench: Bench) -> None:
    committed(bench, large="x" * 2000, a="a")
    await bench.begun(limits=Limits(largest=1000))
    assert bench.saved(1) == {"a.txt"}
    assert "large.txt" in bench.notices[0]


@pytest.mark.parametrize(
    ("rules", "data"),
    [
        ("*.txt text eol=crlf", b"a\r\nb\r\n"),
        ("*.txt ident", b"$Id: 1234567890123456789012345678901234567890 $\n"),
        ("*.txt working-tree-encoding=UTF-16", "hej".encode("utf-16")),
        ("*.txt filter=swap", b"abc"),
    ],
)
async def test_a_file_that_the_projects_git_keeps_in_another_form_is_saved_as_it_is(
    bench: Bench, rules: str, data: bytes
) -> None:
    git(bench.workspace, "init", "-q")
    marker = bench.workspace.parent / "filter-ran"
    git(bench.workspace, "config", "filter.swap.clean", f"tr abc xyz; touch '{marker}'")
    bench.write(".gitattributes", rules + "\n")
    bench.write("a.txt", data)
    committed(bench)
    marker.unlink(missing_ok=True)
    shadow = await bench.begun()
    (bench.workspace / "a.txt").unlink()
    await shadow.restore("1", overwrite=True)
    assert (bench.workspace / "a.txt").read_bytes() == data
    assert not marker.exists()


async def test_line_ends_that_a_setting_converts_are_saved_as_they_are(bench: Bench) -> None:
    git(bench.workspace, "init", "-q")
    git(bench.workspace, "config", "core.autocrlf", "true")
    committed(bench, a="a\r\nb\r\n")
    await bench.begun()
    assert git(bench.workspace, f"--git-dir={bench.repository}", "cat-file", "-s", "refs/halocline/t1/1:a.txt") == "6\n"


@pytest.mark.parametrize(
    "habit",
    [
        ("index.version", "4"),
        ("index.version", "3"),
        ("core.untrackedCache", "true"),
        ("core.splitIndex", "true"),
        ("core.sparseCheckout", "true"),
    ],
)
async def test_every_form_of_index_gives_the_same_checkpoint(bench: Bench, habit: tuple[str, str]) -> None:
    git(bench.workspace, "init", "-q")
    git(bench.workspace, "config", *habit)
    committed(bench, a="one", deep__b="two", deep__bb="three", z="four")
    git(bench.workspace, "status")
    await bench.begun()
    assert bench.saved(1) == {"a.txt", "deep/b.txt", "deep/bb.txt", "z.txt"}
    assert text(bench, 1, "deep/bb.txt") == "three"


@pytest.mark.parametrize("version", ["2", "4"])
async def test_a_folder_of_a_larger_project_borrows_what_is_its_own(bench: Bench, version: str) -> None:
    git(bench.workspace, "init", "-q")
    git(bench.workspace, "config", "index.version", version)
    committed(bench, a="one", part__b="two", part__deep__c="three", party="four")
    bench.workspace = bench.workspace / "part"
    await bench.begun()
    assert bench.saved(1) == {"b.txt", "deep/c.txt"}
    # The commit and the tree.
    assert len(stored(bench)) <= 2


async def test_a_further_work_tree_of_a_repository_borrows_from_it(bench: Bench, tmp_path: Path) -> None:
    committed(bench, a="one")
    git(bench.workspace, "worktree", "add", "-q", str(tmp_path / "further"))
    bench.workspace = tmp_path / "further"
    await bench.begun()
    assert bench.saved(1) == {"a.txt"}
    assert len(stored(bench)) == 1


@pytest.mark.parametrize("damage", [b"", b"DIRC", b"garbage", b"DIRC\0\0\0\2\0\0\xff\xff"])
async def test_a_damaged_index_of_the_project_is_not_borrowed(bench: Bench, damage: bytes) -> None:
    committed(bench, a="one")
    (bench.workspace / ".git" / "index").write_bytes(damage)
    await bench.begun()
    assert text(bench, 1, "a.txt") == "one"
    assert bench.notices == []


async def test_a_project_without_its_objects_is_read_from_its_files(bench: Bench) -> None:
    committed(bench, a="one", b="two")
    for folder in (bench.workspace / ".git" / "objects").glob("??"):
        shutil.rmtree(folder)
    await bench.begun()
    assert text(bench, 1, "b.txt") == "two"
    assert bench.notices == []


async def test_a_repository_with_other_hashes_is_not_borrowed(bench: Bench) -> None:
    git(bench.workspace, "init", "-q", "--object-format=sha256")
    committed(bench, a="one")
    await bench.begun()
    assert text(bench, 1, "a.txt") == "one"


def test_whatever_a_rule_of_ours_leaves_out_is_suspected(tmp_path: Path) -> None:
    rules = [line for line in EXCLUDES.read_bytes().splitlines() if line and not line.startswith((b"#", b"!"))]
    places = [rule.rstrip(b"/").replace(b"*", b"some") for rule in rules]
    places += [b"a/b/" + place for place in places] + [place + b"/below/c.txt" for place in places]
    suspects = build_suspicion(rules).among([*places, b"src/a.py", b"README.md"])
    assert set(suspects) == set(places)


def test_a_rule_that_could_be_about_anything_makes_everything_suspicious() -> None:
    assert build_suspicion([b"*", b"*.png"]).among([b"a.py"]) == [b"a.py"]


async def test_an_index_that_was_not_gone_through_is_never_taken_for_the_stores_own(bench: Bench) -> None:
    bench.write(".env", "KEY=1")
    committed(bench, a="one")
    program = bench.workspace.parent / "slow-git"
    program.write_text('#!/bin/sh\ncase "$1" in check-ignore) exec sleep 60;; esac\nexec git "$@"\n')
    program.chmod(0o755)
    shadow = bench.shadow(program=str(program))
    shadow.begin(bench.events.append)
    shadow.take("now")
    async with asyncio.timeout(20):
        while not list(bench.store.glob("*/index.borrowed")):
            await asyncio.sleep(0.01)
    await shadow.close()
    await bench.begun()
    assert bench.saved(1) == {"a.txt"}
