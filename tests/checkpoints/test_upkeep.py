import asyncio
import os
import shutil
import time
from pathlib import Path

from tests.checkpoints.bench import Bench, contents, git
from tests.checkpoints.test_borrowing import committed, text

from halocline.checkpoints.repository import stores, upkeep
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.checkpoints.store import layout
from halocline.checkpoints.store.git import Git, Runner


def is_borrowing(bench: Bench) -> bool:
    return layout.alternates_file(bench.repository).exists()


async def kept_up(bench: Bench) -> ShadowGit:
    shadow = await bench.begun(idle=0)
    async with asyncio.timeout(20):
        while is_borrowing(bench):
            await asyncio.sleep(0.01)
    return shadow


async def test_soon_a_store_stands_alone_and_outlives_the_projects_git(bench: Bench) -> None:
    committed(bench, a="one", deep__b="two")
    before = contents(bench.workspace / ".git")
    shadow = await kept_up(bench)
    assert contents(bench.workspace / ".git") == before
    shutil.rmtree(bench.workspace / ".git")
    bench.write("a.txt", "spoiled")
    bench.write("deep/b.txt", "spoiled")
    await shadow.restore("1", overwrite=True)
    assert (bench.workspace / "a.txt").read_text() == "one"
    assert git(bench.workspace, f"--git-dir={bench.repository}", "fsck", "--strict", "--no-dangling") == ""
    await shadow.close()


async def test_what_was_saved_while_the_store_was_copied_is_whole_too(bench: Bench) -> None:
    committed(bench, a="one", b="b")
    git(bench.workspace, "branch", "old")
    bench.write("a.txt", "two")
    git(bench.workspace, "commit", "-qam", "second")
    shadow = await bench.begun(idle=0)
    bench.write("a.txt", "one")
    shadow.take("back to what only the project's git holds")
    async with asyncio.timeout(20):
        while is_borrowing(bench):
            await asyncio.sleep(0.01)
            await shadow.settle()
    shutil.rmtree(bench.workspace / ".git")
    assert text(bench, 2, "a.txt") == "one"
    await shadow.close()


async def test_a_store_whose_lender_is_gone_too_soon_saves_the_files_again(bench: Bench) -> None:
    committed(bench, a="one", b="b")
    shadow = await bench.begun(idle=3600)
    shutil.rmtree(bench.workspace / ".git")
    bench.write("a.txt", "two")
    shadow.take("edit")
    await shadow.settle()
    await shadow.close()
    shadow = await bench.begun("t2")
    (bench.workspace / "b.txt").unlink()
    await shadow.restore("t2/1", overwrite=True)
    assert contents(bench.workspace) == {"a.txt": ("file", b"two"), "b.txt": ("file", b"b")}


async def test_a_copy_that_was_cut_short_in_its_last_step_is_taken_back(bench: Bench) -> None:
    committed(bench, a="one")
    await bench.begun()
    place = layout.alternates_file(bench.repository)
    place.rename(place.with_name("alternates.aside"))
    bench.write("new.txt", "new")
    shadow = await bench.begun("t2")
    assert bench.notices == []
    await shadow.restore("t1/1", overwrite=True)
    assert contents(bench.workspace).keys() - {"a.txt", "new.txt"} == {
        name for name in contents(bench.workspace) if name.startswith(".git")
    }


async def test_a_store_that_lacks_something_does_not_let_go_of_what_it_borrowed(bench: Bench) -> None:
    committed(bench, a="one")
    shadow = await bench.begun()
    store = Git("git", bench.repository, bench.workspace, time.monotonic() + 60, Runner())
    assert not upkeep.stand_alone(store)
    assert is_borrowing(bench)
    upkeep.copy_borrowed(store)
    assert upkeep.stand_alone(store)
    await shadow.restore("1", overwrite=True)


async def test_closing_does_not_wait_for_upkeep(bench: Bench) -> None:
    committed(bench, a="one")
    shadow = await bench.begun(idle=0)
    await shadow.close()
    again = await kept_up(bench)
    await again.close()
    assert bench.notices == []


async def test_while_a_store_is_packed_anew_tasks_go_on_saving(bench: Bench, tmp_path: Path, monkeypatch) -> None:
    bench.write("a.txt", "one")
    await bench.begun("t1")
    bench.write("a.txt", "two")
    await bench.begun("t2")
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    words = f'test "$1" = pack-objects && touch {tmp_path}/packs && until test -e {tmp_path}/saved; do sleep 0.01; done'
    slow.write_text(f'#!/bin/sh\n{words}\nPATH="{os.environ["PATH"]}" exec git "$@"\n')
    slow.chmod(0o755)
    stores.give_up(bench.repository, {"t1": 0}, 10)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
        freeing = asyncio.create_task(asyncio.to_thread(stores.collect_garbage, bench.repository, 10))
        while not (tmp_path / "packs").exists():
            await asyncio.sleep(0.01)
    bench.write("a.txt", "one")  # which only what is about to be freed holds
    shadow = await bench.begun("t3", limits=Limits(seconds=5))
    (tmp_path / "saved").touch()
    await freeing
    assert bench.notices == []
    assert git(bench.workspace, f"--git-dir={bench.repository}", "fsck", "--strict", "--no-dangling") == ""
    assert list(bench.repository.glob("objects/pack/*.keep")) == []
    bench.write("a.txt", "spoiled")
    await shadow.restore("t3/1", overwrite=True)
    assert (bench.workspace / "a.txt").read_text() == "one"
