import asyncio
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, git, seen
from tests.checkpoints.test_borrowing import committed
from tests.checkpoints.test_together import sync_all
from tests.crashes.disk import Disk

from halocline.checkpoints.recovery.journal import Journal, write_journal
from halocline.checkpoints.repository.access import place_store
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.store.lock import hold_lock
from halocline.files.folder_mark import read_mark
from halocline.protocol.errors import HaloclineError


@pytest.fixture(autouse=True)
def has_marks(tmp_path: Path) -> None:
    if not read_mark(tmp_path):
        pytest.skip("this file system cannot tell folders apart")


async def worked(bench: Bench, task: str = "t1", before: str = "one", after: str = "two") -> Bench:
    """Have a task change `a.txt`."""
    bench.write("a.txt", before)
    shadow = await bench.begun(task)
    bench.write("a.txt", after)
    await seen(shadow)
    await shadow.close()
    return bench


def renamed(bench: Bench, name: str) -> Bench:
    return replace(bench, workspace=bench.workspace.rename(bench.workspace.with_name(name)))


async def listed(bench: Bench) -> list[str]:
    return [f"{info.task}/{info.n}" for info in await bench.shadow("by-hand").list()]


async def test_a_renamed_folder_has_its_checkpoints(bench: Bench) -> None:
    new = renamed(await worked(bench), "new")
    assert await listed(new) == ["t1/1", "t1/2"]
    assert (place_store(new.store, new.workspace) / "HEAD").exists()


async def test_a_restore_after_a_rename_writes_into_the_new_folder(bench: Bench) -> None:
    new = renamed(await worked(bench), "new")
    await new.shadow().restore("1")
    assert (new.workspace / "a.txt").read_text() == "one"
    assert not bench.workspace.exists()


async def test_a_task_goes_on_after_a_rename_with_the_next_number(bench: Bench) -> None:
    new = renamed(await worked(bench), "new")
    await worked(new, before="two", after="three")
    assert await listed(new) == ["t1/1", "t1/2", "t1/3"]


async def test_a_copy_of_a_folder_has_none_of_its_checkpoints(bench: Bench, tmp_path: Path) -> None:
    await worked(bench)
    copy = replace(bench, workspace=shutil.copytree(bench.workspace, tmp_path / "copy"))
    assert await listed(copy) == []
    assert await listed(bench) == ["t1/1", "t1/2"]


async def test_a_new_folder_at_the_old_place_begins_its_own_store(bench: Bench) -> None:
    new = renamed(await worked(bench), "new")
    assert await listed(new) == ["t1/1", "t1/2"]
    bench.workspace.mkdir()
    await worked(bench, "t2")
    assert (await listed(bench), await listed(new)) == (["t2/1", "t2/2"], ["t1/1", "t1/2"])


async def test_a_folder_that_is_made_anew_at_its_place_keeps_the_checkpoints(bench: Bench) -> None:
    await worked(bench)
    shutil.rmtree(bench.workspace)
    bench.workspace.mkdir()
    await worked(bench, "t2")
    assert await listed(bench) == ["t1/1", "t1/2", "t2/1", "t2/2"]


async def test_two_folders_that_change_places_keep_each_its_own(bench: Bench, tmp_path: Path) -> None:
    other = replace(bench, workspace=tmp_path / "other")
    other.workspace.mkdir()
    await worked(bench, "t1")
    await worked(other, "t2")
    bench.workspace.rename(tmp_path / "aside")
    other.workspace.rename(bench.workspace)
    (tmp_path / "aside").rename(other.workspace)
    assert (await listed(bench), await listed(other)) == (["t2/1", "t2/2"], ["t1/1", "t1/2"])


async def test_two_processes_take_the_store_of_a_renamed_folder_along_once(bench: Bench) -> None:
    new = renamed(await worked(bench), "new")
    first, second = (new.shadow(task) for task in ("t2", "t3"))
    for shadow in (first, second):
        shadow.begin(new.events.append)
    await asyncio.gather(first.settle(), second.settle())
    assert await listed(new) == ["t1/1", "t1/2", "t2/1", "t3/1"]


async def test_a_store_that_another_process_holds_is_waited_for_and_no_second_one_begins(bench: Bench) -> None:
    new = renamed(await worked(bench), "new")
    lock = place_store(bench.store, bench.workspace).with_suffix(".lock")
    is_refused = pytest.raises(HaloclineError, match="is saving or restoring files of this folder")
    with hold_lock(lock, time.monotonic() + 5, lambda: None), is_refused:
        await new.shadow(limits=Limits(seconds=0.1, patience=0.1)).list()
    assert await listed(new) == ["t1/1", "t1/2"]


async def test_a_task_that_is_open_in_a_folder_while_it_is_renamed_makes_no_store_of_the_old_name(bench: Bench) -> None:
    bench.write("a.txt", "one")
    shadow = await bench.begun()
    new = renamed(bench, "new")
    assert await listed(new) == ["t1/1"]
    await seen(shadow)
    assert f"The folder {bench.workspace} no longer exists." in bench.notices[-1]
    assert not place_store(bench.store, bench.workspace).exists()


async def test_what_a_store_borrows_from_the_projects_git_is_found_after_a_rename(bench: Bench) -> None:
    committed(bench, a="one")
    await bench.begun()  # ends without copying
    new = renamed(bench, "new")
    assert await listed(new) == ["t1/1"]
    assert git(new.workspace, f"--git-dir={new.repository}", "show", "refs/halocline/t1/1:a.txt") == "one"


async def test_an_unfinished_restore_of_several_folders_is_undone_at_the_old_place_first(bench: Bench) -> None:
    await worked(bench)
    store = place_store(bench.store, bench.workspace)
    write_journal(store, Journal(".halo-1.tmp", (), ((str(store), str(bench.workspace)), ("/other", "/place"))))
    new = renamed(bench, "new")
    with pytest.raises(HaloclineError, match="A restore of several folders was interrupted before"):
        await new.shadow().list()
    assert store.exists()


async def test_the_first_change_after_a_rename_is_held_in_the_store_that_comes_along(bench: Bench) -> None:
    """An edit keeps the old content before the store is opened."""
    new = renamed(await worked(bench), "new")
    shadow = new.shadow("t2")
    shadow.begin(new.events.append)
    await shadow.barrier(["a.txt"], ran=False)
    new.write("a.txt", "three")
    shadow.wrote("a.txt", "two".encode, "three".encode)
    shadow.take("edit", ["a.txt"])
    await shadow.settle()
    assert await listed(new) == ["t1/1", "t1/2", "t2/1", "t2/2"]
    assert git(new.workspace, f"--git-dir={new.repository}", "show", "refs/halocline/t2/1:a.txt") == "two"


async def test_a_folder_that_is_renamed_and_renamed_back_keeps_its_checkpoints(bench: Bench) -> None:
    new = renamed(await worked(bench), "new")
    assert await listed(new) == ["t1/1", "t1/2"]
    new.workspace.rename(bench.workspace)
    assert await listed(bench) == ["t1/1", "t1/2"]


async def test_a_store_that_was_set_aside_is_found_when_its_folder_is_back(bench: Bench, tmp_path: Path) -> None:
    other = replace(bench, workspace=tmp_path / "other")
    other.workspace.mkdir()
    await worked(bench, "t1")
    await worked(other, "t2")
    away = bench.workspace.rename(tmp_path / "away")
    other.workspace.rename(bench.workspace)
    assert await listed(bench) == ["t2/1", "t2/2"]
    bench.workspace.rename(other.workspace)
    away.rename(bench.workspace)
    assert (await listed(bench), await listed(other)) == (["t1/1", "t1/2"], ["t2/1", "t2/2"])
    await worked(bench, "t3")
    assert (await listed(bench), await listed(other)) == (["t1/1", "t1/2", "t3/1", "t3/2"], ["t2/1", "t2/2"])


@pytest.mark.parametrize("order", ["old first", "new first"])
async def test_a_new_folder_at_the_old_place_takes_nothing_from_the_renamed_one(bench: Bench, order: str) -> None:
    """Whichever is used first; the new one may have the old one's, too, as after `rm -rf` and a clone."""
    old = renamed(await worked(bench), "old")
    bench.workspace.mkdir()
    for one in (old, bench) if order == "old first" else (bench, old):
        await worked(one, "t2" if one is old else "t3", before="two", after="three")
    assert (await listed(old))[:2] == ["t1/1", "t1/2"]
    assert {"t2/1", "t2/2"} <= {*await listed(old)}
    assert {"t3/1", "t3/2"} <= {*await listed(bench)}
    await old.shadow("t2").restore("1")
    assert ((old.workspace / "a.txt").read_text(), (bench.workspace / "a.txt").read_text()) == ("two", "three")


def test_a_store_that_is_copied_survives_a_power_cut(bench: Bench, tmp_path: Path) -> None:
    old = renamed(asyncio.run(worked(bench)), "old")
    bench.workspace.mkdir()
    asyncio.run(worked(bench, "t3"))
    if child := os.fork():
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    else:
        code = 1
        try:
            disk = Disk(old.store)
            disk.install()
            sync_all(old.store)
            asyncio.run(listed(old))
            disk.cut(tmp_path / "cut")
            code = 0
        finally:
            os._exit(code)
    taken = place_store(tmp_path / "cut", old.workspace)
    assert (taken / "HEAD").exists()
    assert asyncio.run(listed(replace(old, store=tmp_path / "cut"))) == ["t1/1", "t1/2", "t3/1", "t3/2"]


async def test_what_is_left_of_a_copy_that_was_cut_short_is_no_store(bench: Bench) -> None:
    old = renamed(await worked(bench), "old")
    bench.workspace.mkdir()
    await worked(bench, "t3")
    store = place_store(old.store, old.workspace)
    shutil.copytree(place_store(bench.store, bench.workspace), store.with_name(f"{store.name}.damaged-copy"))
    assert (await listed(old))[:2] == ["t1/1", "t1/2"]
    assert not store.with_name(f"{store.name}.damaged-copy").exists()
