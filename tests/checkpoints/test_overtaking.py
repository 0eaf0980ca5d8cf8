"""Edits that do not wait for the checkpoint before them."""

import asyncio
import os
import random
import time
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, contents, git
from tests.samples import choose

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.protocol.events import CheckpointFailed, DurableEvent, Noticed

pytestmark = pytest.mark.slow


@pytest.fixture
def held_back(tmp_path: Path) -> Path:
    """A git that scans only once `go` exists."""
    program = tmp_path / "held-git"
    waits = f'case "$1" in ls-files) while ! test -e "{tmp_path}/go"; do sleep 0.01; done;; esac'
    program.write_text(f'#!/bin/sh\n{waits}\nexec git "$@"\n')
    program.chmod(0o755)
    return program


async def scanning(bench: Bench, held_back: Path) -> ShadowGit:
    """Checkpoints whose second one, after a command, has not read anything yet."""
    go = held_back.with_name("go")
    go.touch()
    shadow = await bench.begun(program=str(held_back))
    go.unlink()
    shadow.take("command")
    return shadow


async def test_an_edit_does_not_wait_and_yet_is_not_in_the_checkpoint_before_it(bench: Bench, held_back: Path) -> None:
    bench.write("a.txt", "one\n")
    shadow = await scanning(bench, held_back)
    await shadow.barrier(["a.txt"], ran=False)
    bench.write("a.txt", "two\n")
    shadow.take("edit", ["a.txt"])
    held_back.with_name("go").touch()
    await shadow.settle()
    assert bench.taken == ["Start", "edit"]
    assert (await shadow.diff("1", "2")).splitlines()[-2:] == ["-one", "+two"]


def count_looks(bench: Bench) -> int:
    return (bench.store / "claims").read_bytes().count(b'"looked"')


async def edit(bench: Bench, shadow: ShadowGit, text: str) -> None:
    await shadow.barrier(["a.txt"], ran=False)
    bench.write("a.txt", text)
    shadow.take("edit", ["a.txt"])
    await shadow.settle()


async def test_a_file_that_is_saved_as_it_is_is_not_saved_before_an_edit(bench: Bench) -> None:
    bench.write("a.txt", "one\n")
    shadow = await bench.begun()
    await edit(bench, shadow, "two\n")
    looks = count_looks(bench)
    for text in ("three\n", "four\n"):
        await edit(bench, shadow, text)
    assert count_looks(bench) == looks + 2
    bench.write("a.txt", "a person's\n")
    await edit(bench, shadow, "five\n")
    assert count_looks(bench) == looks + 4
    assert (await shadow.diff("4", "5")).splitlines()[-2:] == ["-four", "+a person's"]
    await shadow.close()


async def begun_with_an_obstacle(bench: Bench) -> tuple[ShadowGit, Path]:
    """Checkpoints that wait, and what makes the next one fail, once it is there; then it is gone."""
    shadow = bench.shadow(pause=600)

    def hear(event: DurableEvent | Noticed) -> None:
        bench.events.append(event)
        if isinstance(event, CheckpointFailed):
            obstacle.rmdir()

    shadow.begin(hear)
    await shadow.settle()
    obstacle = bench.repository / "refs/halocline/t1/no.lock"
    return shadow, obstacle


async def make_edits(bench: Bench, shadow: ShadowGit, *names: str) -> None:
    for name in names:
        await shadow.barrier([name], ran=False)
        bench.write(name, "two\n")
        shadow.wrote(name, "one\n".encode if name != "new/e" else None, "two\n".encode)
        shadow.take(f"edit {name}", [name])


@pytest.mark.parametrize("edited", [("a", "b", "c", "new/e"), ("a", "new/e")])
async def test_a_checkpoint_after_one_that_failed_has_no_later_edit(bench: Bench, edited: tuple[str, ...]) -> None:
    for name in "abc":
        bench.write(name, "one\n")
    shadow, obstacle = await begun_with_an_obstacle(bench)
    await make_edits(bench, shadow, *edited)
    obstacle.mkdir()
    await shadow.settle()
    assert bench.taken == ["Start", "Found changed", *(f"edit {name}" for name in edited[1:])]
    for number, made in enumerate([edited[:1], *(edited[: end + 1] for end in range(1, len(edited)))], 2):
        found = {name: bench.show(number, name) for name in bench.saved(number)}
        assert found == dict.fromkeys("abc", "one\n") | dict.fromkeys(made, "two\n")
    await shadow.restore("1")
    assert not (bench.workspace / "new/e").exists()
    await shadow.close()


async def test_the_next_checkpoint_has_what_one_could_not_save_while_none_waited(bench: Bench) -> None:
    for name in "ab":
        bench.write(name, "one\n")
    shadow, obstacle = await begun_with_an_obstacle(bench)
    await make_edits(bench, shadow, "a")
    await shadow.settle()
    bench.write("b", "two\n")
    shadow.take("edit b", ["b"])
    obstacle.mkdir()
    await shadow.settle()
    await make_edits(bench, shadow, "a")
    await shadow.settle()
    newest = len(bench.taken)
    assert {name: bench.show(newest, name) for name in "ab"} == {"a": "two\n", "b": "two\n"}
    await shadow.close()


@pytest.mark.parametrize("known", [True, False])
async def test_a_file_that_an_edit_removes_meanwhile_is_still_in_the_checkpoint_before(
    bench: Bench, held_back: Path, known: bool
) -> None:
    if known:
        bench.write("a.txt", "one\n")
    shadow = await scanning(bench, held_back)
    bench.write("a.txt", "one\n")
    await shadow.barrier(["a.txt"], ran=False)
    (bench.workspace / "a.txt").unlink()
    shadow.take("edit", ["a.txt"])
    held_back.with_name("go").touch()
    await shadow.settle()
    moments = [{"a.txt"}, set()] if known else [set(), {"a.txt"}, set()]
    assert [bench.saved(n) for n in range(1, len(bench.taken) + 1)] == moments


async def test_a_file_that_an_edit_makes_meanwhile_is_not_in_the_checkpoint_before(
    bench: Bench, held_back: Path
) -> None:
    shadow = await scanning(bench, held_back)
    bench.write("b.txt", "by the command")
    await shadow.barrier(["new/a.txt"], ran=False)
    bench.write("new/a.txt", "by the edit")
    shadow.take("edit", ["new/a.txt"])
    held_back.with_name("go").touch()
    await shadow.settle()
    assert [bench.saved(n) for n in (1, 2, 3)] == [set(), {"b.txt"}, {"b.txt", "new/a.txt"}]


async def test_an_ignored_file_stays_out_whoever_edits_it(bench: Bench, held_back: Path) -> None:
    bench.write(".gitignore", "*.log\n")
    bench.write("a.log", "one")
    shadow = await scanning(bench, held_back)
    await shadow.barrier(["a.log"], ran=False)
    bench.write("a.log", "two")
    shadow.take("edit", ["a.log"])
    held_back.with_name("go").touch()
    await shadow.settle()
    assert bench.taken == ["Start"]


async def test_an_edit_through_a_link_does_not_wait(bench: Bench, held_back: Path) -> None:
    bench.write("a.txt", "one\n")
    os.symlink("a.txt", bench.workspace / "link.txt")
    shadow = await scanning(bench, held_back)
    await shadow.barrier(["link.txt", "a.txt"], ran=False)
    bench.write("a.txt", "two\n")
    shadow.take("edit", ["link.txt", "a.txt"])
    held_back.with_name("go").touch()
    await shadow.settle()
    assert bench.taken == ["Start", "edit"]
    assert (await shadow.diff("1", "2")).splitlines()[-2:] == ["-one", "+two"]


async def test_the_files_of_a_claim_are_those_of_when_it_began(bench: Bench) -> None:
    bench.write("a.txt", "one\n")
    os.symlink("a.txt", bench.workspace / "link.txt")
    shadow = await bench.begun()
    await shadow.barrier(["link.txt", "a.txt"])
    os.unlink(bench.workspace / "link.txt")
    shadow.take("rm link.txt", ["link.txt", "a.txt"])
    await shadow.settle()
    assert (await shadow.restore("1")).changed == ("link.txt",)
    assert os.readlink(bench.workspace / "link.txt") == "a.txt"


async def test_a_command_waits(bench: Bench, held_back: Path) -> None:
    shadow = await scanning(bench, held_back)
    waiting = asyncio.create_task(shadow.barrier())
    await asyncio.sleep(0.1)
    assert not waiting.done()
    held_back.with_name("go").touch()
    await waiting


async def test_not_more_than_a_few_checkpoints_are_overtaken(bench: Bench, held_back: Path) -> None:
    shadow = await scanning(bench, held_back)

    async def edit() -> None:
        for n in range(30):
            await shadow.barrier(["a.txt"], ran=False)
            bench.write("a.txt", str(n))
            shadow.take(f"edit {n}", ["a.txt"])

    editing = asyncio.create_task(edit())
    await asyncio.sleep(0.3)
    assert not editing.done()
    held_back.with_name("go").touch()
    await editing
    await shadow.settle()
    assert bench.taken == ["Start", *(f"edit {n}" for n in range(30))]


async def test_packed_trees_are_read_too(bench: Bench) -> None:
    bench.write("deep/down/a.txt", "one")
    bench.write("deep/b.txt", "one")
    shadow = await bench.begun()
    git(bench.workspace, f"--git-dir={bench.repository}", "gc", "--quiet", "--prune=now")
    assert not list((bench.repository / "objects").glob("??/*"))
    bench.write("deep/down/a.txt", "two")
    shadow.take("edit", ["deep/down/a.txt"])
    await shadow.settle()
    assert (await shadow.diff("1", "2")).count("\n+two") == 1
    assert bench.saved(2) == {"deep/down/a.txt", "deep/b.txt"}


@pytest.mark.parametrize("named", [True, False])
async def test_what_is_saved_without_git_is_what_git_would_save(bench: Bench, named: bool) -> None:
    for name in ("a.txt", "a/b.txt", "a-b", "a0", "z/y/x.txt"):
        bench.write(name, "one")
    shadow = await bench.begun()
    for name in ("a.txt", "a/b.txt", "a-b", "a0"):
        bench.write(name, "two")
    (bench.workspace / "a0").chmod(0o755)
    (bench.workspace / "z/y/x.txt").unlink()
    edited = ["a.txt", "a/b.txt", "a-b", "a0", "z/y/x.txt"]
    if not named:
        os.symlink("a.txt", bench.workspace / "link")
        (bench.workspace / "a-b").unlink()
        bench.write("a-b/now/a/folder", "two")
    shadow.take("edit", edited if named else None)
    await shadow.settle()
    git_dir = f"--git-dir={bench.repository}"
    git(bench.workspace, git_dir, f"--work-tree={bench.workspace}", "add", "--all")
    expected = git(bench.workspace, git_dir, "write-tree")
    assert git(bench.workspace, git_dir, "rev-parse", "refs/halocline/t1/2^{tree}") == expected
    git(bench.workspace, git_dir, "fsck", "--strict")


@pytest.mark.parametrize("seed", range(choose(8, 3)))
async def test_every_checkpoint_shows_its_own_moment(bench: Bench, seed: int) -> None:
    dice = random.Random(seed)
    names = ["a.txt", "b.txt", "c/d.txt", "c/e/f.txt"]
    shadow = bench.shadow(delay=0)
    shadow.begin(bench.events.append)
    moments = {"Start": contents(bench.workspace)}
    for n in range(25):
        edited = dice.sample(names, dice.choice((1, 1, 2))) if dice.random() < 0.7 else None
        await shadow.barrier(edited)
        for name in edited or dice.sample(names, 2):
            if dice.random() < 0.2:
                (bench.workspace / name).unlink(missing_ok=True)
            else:
                bench.write(name, f"{n} {name}")
        moments[f"step {n}"] = contents(bench.workspace)
        shadow.take(f"step {n}", edited)
        await asyncio.sleep(dice.choice((0, 0, 0.005)))
    await shadow.settle()
    assert len(bench.taken) > 5
    for number, label in enumerate(bench.taken, start=1):
        files = {name for name, (kind, _) in moments[label.rpartition("; ")[2]].items() if kind == "file"}
        assert bench.saved(number) == files, label
        for name in files:
            ref = f"refs/halocline/t1/{number}:{name}"
            held = git(bench.workspace, f"--git-dir={bench.repository}", "show", ref)
            assert held.encode() == moments[label.rpartition("; ")[2]][name][1], (label, name)


async def test_a_start_that_a_dead_process_did_not_save_shows_no_edit_that_overtakes_it_in_the_next(
    bench: Bench,
) -> None:
    """The first process dies with an edit of `a.txt`; in the second, one of `b.txt` overtakes the first checkpoint."""
    bench.write("a.txt", "a0")
    bench.write("b.txt", "b0")
    (await bench.begun("other"))._repository.stop()
    dead = bench.shadow()._repository
    dead.hold(["a.txt"], time.time())
    bench.write("a.txt", "a1")
    repository = bench.shadow()._repository
    kept = repository.keep(["b.txt"])
    bench.write("b.txt", "b1")
    repository.save("Start", None, lambda: kept or {})
    shown = [
        [git(bench.workspace, f"--git-dir={bench.repository}", "show", f"refs/halocline/t1/{n}:{name}") for n in (1, 2)]
        for name in ("a.txt", "b.txt")
    ]
    assert shown == [["a0", "a1"], ["b0", "b0"]]
