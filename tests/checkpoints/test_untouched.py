import os
import subprocess
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, contents, git
from tests.checkpoints.test_nested import nested

from halocline.checkpoints.saved import Limits


def states(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Every file and folder with its kind and mode, its time and its size."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in (*files, *folders):
            info = os.lstat(os.path.join(place, name))
            found[os.path.relpath(os.path.join(place, name), folder)] = (info.st_mode, info.st_mtime_ns, info.st_size)
    return found


def everything(bench: Bench) -> Path:
    """A project with all that has ever gone wrong; gives the file that a hook or a filter would leave."""
    marker = bench.workspace.parent / "something-ran"
    origin = nested(bench, "origin")
    git(bench.workspace, "init", "-q")
    bench.write(".gitignore", "ignored/\n")
    bench.write(".haloclineignore", "hidden/\n")
    bench.write(".gitattributes", "*.lfs filter=lfs diff=lfs merge=lfs -text\n*.crlf text eol=crlf\n")
    bench.write("a.txt", "a")
    bench.write("large.lfs", "content of a large file\n")
    bench.write("dos.crlf", b"one\r\ntwo\r\n")
    git(bench.workspace, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(origin), "sub")
    git(bench.workspace, "add", "a.txt", ".gitignore", ".gitattributes", "large.lfs", "dos.crlf")
    git(bench.workspace, "commit", "-qm", "first")
    for setting in ("filter.lfs.clean", "filter.lfs.smudge", "filter.lfs.process", "core.fsmonitor"):
        git(bench.workspace, "config", setting, f"touch '{marker}'")
    for name in ("pre-commit", "post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        bench.write(f".git/hooks/{name}", f"#!/bin/sh\ntouch '{marker}'\n").chmod(0o755)
    nested(bench, "nested", commits=1)
    nested(bench, "nested/unborn", commits=0)
    bench.write("ignored/out.bin", "out")
    bench.write("hidden/private.txt", "private")
    bench.write("Case.txt", "upper")
    bench.write("case.txt", "lower")
    bench.write("huge.txt", "x" * 50_000)
    bench.write("unreadable.txt", "no").chmod(0)
    os.mkfifo(bench.workspace / "pipe")
    (bench.workspace / "link").symlink_to("a.txt")
    (bench.workspace / "dangling").symlink_to("nowhere")
    (bench.workspace / "outside").symlink_to("/etc")
    (bench.workspace / "loop").symlink_to(".")
    return marker


async def test_taking_checkpoints_changes_nothing_in_the_workspace_and_runs_nothing_of_it(bench: Bench) -> None:
    marker = everything(bench)
    before, bytes_before = states(bench.workspace), contents(bench.workspace / ".git")
    shadow = await bench.begun(limits=Limits(seconds=30, largest=20_000), idle=0)
    for n in range(2):
        shadow.take(f"command {n}")
        await shadow.settle()
    await shadow.diff("1")
    await shadow.close()
    assert states(bench.workspace) == before
    assert contents(bench.workspace / ".git") == bytes_before
    assert not marker.exists()


async def test_of_everything_the_right_files_are_saved_as_they_are(bench: Bench) -> None:
    everything(bench)
    await bench.begun(limits=Limits(seconds=30, largest=20_000))
    kept = {".gitattributes", ".gitignore", ".gitmodules", ".haloclineignore", "a.txt", "large.lfs", "dos.crlf"}
    kept |= {"Case.txt", "case.txt", "link", "dangling", "outside", "loop"}
    kept |= {"origin/code.txt", "sub/code.txt", "nested/code.txt", "nested/unborn/code.txt"}
    if os.geteuid() == 0:
        kept.add("unreadable.txt")
    assert bench.saved(1) == kept
    for name in ("large.lfs", "dos.crlf"):
        command = ["git", f"--git-dir={bench.repository}", "cat-file", "blob", f"refs/halocline/t1/1:{name}"]
        assert subprocess.check_output(command) == (bench.workspace / name).read_bytes()
    assert "huge.txt" in bench.notices[0]


@pytest.mark.parametrize("name", [".haloclineignore", ".clineignore"])
async def test_what_is_hidden_from_the_model_later_leaves_the_next_checkpoint(bench: Bench, name: str) -> None:
    bench.write("a.txt", "a")
    bench.write("private/diary.txt", "dear")
    shadow = await bench.begun()
    bench.write(name, "private/\n")
    shadow.take("hide")
    await shadow.settle()
    assert bench.saved(1) == {"a.txt", "private/diary.txt"}
    assert bench.saved(2) == {"a.txt", name}
    assert (bench.workspace / "private" / "diary.txt").read_text() == "dear"
