import os
import subprocess
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, contents, git

from halocline.checkpoints.saved import Limits
from halocline.checkpoints.store.reading import Kept, Reader

CANARY = "canary_from_outside"


def misled_git(bench: Bench, listing: list[str]) -> str:
    """A git that finds these names to be new below the workspace, as one that was led through a link just then."""
    names, program = bench.home / "names", bench.home / "misled-git"
    bench.home.mkdir()
    names.write_bytes(b"".join(b"? %b\0" % os.fsencode(name) for name in listing))
    program.write_text(f'#!/bin/sh\ntest "$1" = ls-files || exec git "$@"\ngit "$@"\ncat "{names}"\n')
    program.chmod(0o755)
    return str(program)


def stored(bench: Bench) -> bytes:
    """All that the store holds, unpacked, and its files as they are."""
    objects = subprocess.run(
        ["git", f"--git-dir={bench.repository}", "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    )
    files = (path for path in bench.store.rglob("*") if path.is_file())
    return objects.stdout + b"".join(path.read_bytes() for path in files)


@pytest.mark.parametrize("many", [1, 100])
async def test_what_git_finds_through_a_link_is_not_kept(bench: Bench, many: int) -> None:
    outside = bench.workspace.parent / "outside"
    names = [f"{CANARY}{number}.txt" for number in range(many)]
    (outside / f"{CANARY}_repository" / ".git").mkdir(parents=True)
    for name in names:
        (outside / name).write_text(f"{CANARY} {name}")
    (outside / f"{CANARY}.bin").write_bytes(CANARY.encode() * 5_000)
    (bench.workspace / "d").symlink_to(outside)
    for number in range(many):
        bench.write(f"inside{number}.txt", f"{number}")
    listing = [f"d/{name}" for name in (*names, f"{CANARY}.bin", f"{CANARY}_repository/")]
    shadow = await bench.begun(program=misled_git(bench, listing), limits=Limits(seconds=30, largest=20_000))
    assert bench.saved(1) == {"d", *(f"inside{number}.txt" for number in range(many))}
    assert (await shadow.plan("1")).changes == 0
    assert CANARY.encode() not in stored(bench)
    assert bench.notices == []


async def test_a_file_that_git_refuses_to_name_is_left_out_and_the_others_are_saved(bench: Bench) -> None:
    refused = {".GIT/config", "a/.Git"}
    kept = {"git~1/config", ".git\u200c/config", "..name", "a/..name", "tab\tand\nline", "zero", *(map(str, range(60)))}
    for name in refused | kept:
        bench.write(name, "x" if name != "zero" else "")
    (bench.workspace / ".GitModules").symlink_to("..name")
    await bench.begun()
    assert bench.saved(1) == kept
    assert [name in bench.notices[0] for name in (".GIT/config", ".GitModules", "a/.Git")] == [True] * 3


async def test_files_become_folders_and_folders_files_in_an_index_of_many(bench: Bench) -> None:
    for number in range(60):
        bench.write(f"f{number}", "file")
        bench.write(f"d{number}/inner", "in a folder")
    bench.write("gone", "gone")
    shadow = await bench.begun()
    (bench.workspace / "gone").unlink()
    for number in range(60):
        (bench.workspace / f"f{number}").unlink()
        (bench.workspace / f"d{number}/inner").unlink()
        (bench.workspace / f"d{number}").rmdir()
        bench.write(f"f{number}/inner", "a folder now")
        bench.write(f"d{number}", "a file now")
    shadow.take("turned around")
    await shadow.settle()
    assert bench.saved(2) == {f"f{number}/inner" for number in range(60)} | {f"d{number}" for number in range(60)}
    git(bench.workspace, f"--git-dir={bench.repository}", "fsck", "--strict")
    await shadow.restore("1", overwrite=True)
    assert {"gone", "f7", "d7/inner"} < set(contents(bench.workspace))


def held(kept: Kept | None) -> tuple[bytes, bytes] | None:
    return kept and (kept.content, kept.mode)


def test_a_reader_gives_files_and_links_below_its_folder_and_nothing_else(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "in").mkdir(parents=True)
    (outside / "in").mkdir(parents=True)
    (root / "in" / "f").write_text("inside")
    (root / "in" / "run").write_text("")
    (root / "in" / "run").chmod(0o755)
    (outside / "f").write_text("outside")
    (root / "out").symlink_to(outside)
    os.mkfifo(root / "pipe")
    with Reader(str(root)) as reader:
        assert held(reader.read(b"in/f", 6)) == (b"inside", b"100644")
        assert held(reader.read(b"in/run", 6)) == (b"", b"100755")
        assert held(reader.read(b"out", 6)) == (os.fsencode(outside), b"120000")
        for name in (
            b"out/f",
            b"out/in/f",
            b"in/f/g",
            b"in",
            b"none",
            b"none/f",
            b"../outside/f",
            b"in/../in/f",
            b"..",
        ):
            assert reader.read(name, 6) is None, name
        for name in (b"out/f", b"in/f/g", b"none/f", b"../outside/f"):
            assert reader.look(name) is None, name
            assert not reader.may_read(name)
        for name, most in ((b"in/f", 5), (b"pipe", 6)):
            with pytest.raises(OSError):
                reader.read(name, most)


def test_a_reader_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("x")
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        with Reader(os.fsencode(tmp_path)) as reader:
            assert reader.look(b"a/b")
            assert reader.look(b"gone/b") is None
            assert reader.read(b"a/b", 10)
    with pytest.raises(FileNotFoundError):
        Reader(os.fsencode(tmp_path / "gone"))
    assert len(os.listdir("/dev/fd")) == before
