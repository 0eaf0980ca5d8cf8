"""Several folders are put back together: whatever dies or is refused, all are as before or all are made."""

import asyncio
import json
import os
import zlib
from pathlib import Path

import pytest
from tests.checkpoints.bench import Announced, contents, git
from tests.crashes.disk import Disk
from tests.crashes.faults import Fault, FaultTime, Points

from halocline.checkpoints.recovery.file_changes import NotRestored
from halocline.checkpoints.repository import stores
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.checkpoints.store.git import Runner
from halocline.protocol.errors import HaloclineError

OLD = {"kept.txt": "kept", "changed.txt": "one", "gone.txt": "was here"}
NEW = {"kept.txt": "kept", "changed.txt": "two", "made/new.txt": "new"}
REFUSED = 3


class Pair:
    """Two folders that a task works in, with a checkpoint of each before and after it changed them."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "home" / "checkpoints"
        self.folders = [folder / "first", folder / "second"]
        self.seen = folder / "points"
        for place in self.folders:
            place.mkdir()
        asyncio.run(self.worked())

    def shadow(self, at: int) -> ShadowGit:
        return Announced(self.store, self.folders[at], "t1", delay=0, home=Path("/nowhere"))

    async def worked(self) -> None:
        for at in (0, 1):
            self.put(at, OLD)
            shadow = self.shadow(at)
            shadow.begin(lambda event: None)
            await shadow.settle()
        await self.change()

    async def change(self) -> None:
        """The task does its work in both folders."""
        for at in (0, 1):
            self.put(at, NEW)
            shadow = self.shadow(at)
            shadow.take("edit")
            await shadow.settle()

    def put(self, at: int, files: dict[str, str]) -> None:
        for name in (*OLD, *NEW):
            (self.folders[at] / name).unlink(missing_ok=True)
        for name, text in files.items():
            (self.folders[at] / name).parent.mkdir(exist_ok=True)
            (self.folders[at] / name).write_text(text)

    def held(self) -> list[dict[str, str]]:
        return [{name: data.decode() for name, (_, data) in contents(place).items()} for place in self.folders]

    async def restore(self) -> None:
        await self.shadow(0).restore("1", [(self.shadow(1), "1")], overwrite=True)

    def restored_in_a_child(self, fault: Fault) -> int:
        """How the child ended that put both folders back: 0, `REFUSED`, or minus the signal that killed it."""
        if child := os.fork():
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        code = 1
        try:
            points = Points(fault)
            points.install()
            asyncio.run(self.restore())
            count, code = points.count, 0
            self.seen.write_text(str(count))
        except HaloclineError:
            code = REFUSED
        finally:
            os._exit(code)

    def garbled(self, name: str) -> Path:
        """A file of the second folder whose content in the first checkpoint is spoilt; without a name, the folder."""
        store = Repository(self.store, self.folders[1], "t1", "git", Limits()).path
        sha = git(self.folders[1], f"--git-dir={store}", "rev-parse", f"refs/halocline/t1/1:{name}").strip()
        held = store / "objects" / sha[:2] / sha[2:]
        held.chmod(0o600)
        held.write_bytes(zlib.compress(b"blob 3\0bad") if name else b"bad")
        return self.folders[1] / name

    def points(self) -> int:
        assert self.restored_in_a_child(Fault()) == 0
        assert self.held() == [OLD, OLD]
        return int(self.seen.read_text())


def stopped_in_the_middle(pair: Pair) -> None:
    """Both folders are as they were, and a process died that had put back a part of them."""
    points = pair.points()
    asyncio.run(pair.change())
    assert pair.restored_in_a_child(Fault(points * 3 // 4)) < 0


def test_a_store_that_a_restore_needs_is_not_given_up_before_it_was_ended(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    stopped_in_the_middle(pair)
    journals = list(pair.store.glob("*/restoring.json"))
    assert journals
    for journal in journals:
        with pytest.raises(TimeoutError):
            stores.give_up(journal.parent, {"t1": 0}, 10)
    stores.keep_within(pair.store, 0, "", 60, Runner())
    asyncio.run(pair.shadow(1).plan("1"))
    assert pair.held() in ([OLD, OLD], [NEW, NEW])
    for journal in journals:
        stores.give_up(journal.parent, {"t1": 0}, 10)
    assert not list(pair.store.glob("*/HEAD"))


def after_a_fault(pair: Pair, fault: Fault, opened: int) -> list[dict[str, str]]:
    """What both folders hold once a process that came later opened one of the stores."""
    asyncio.run(pair.change())
    pair.restored_in_a_child(fault)
    asyncio.run(pair.shadow(opened).plan("1"))
    return pair.held()


STEP = 3
"""The usual run tries every third point, each test another third; `make crash-matrix` tries all."""
all_points = pytest.param(1, marks=pytest.mark.long, id="all")


@pytest.mark.slow
@pytest.mark.parametrize("step", [pytest.param(STEP, id="a third"), all_points])
@pytest.mark.parametrize(("moment", "first"), [(FaultTime.BEFORE, 1), (FaultTime.AFTER, 2)])
def test_a_process_that_dies_anywhere_in_a_restore_leaves_both_folders_alike(
    tmp_path: Path, moment: FaultTime, first: int, step: int
) -> None:
    pair = Pair(tmp_path)
    ends = set()
    for at in range(min(first, step), pair.points() + 1, step):
        held = after_a_fault(pair, Fault(at, moment), opened=at % 2)
        assert held in ([OLD, OLD], [NEW, NEW]), f"killed at point {at}"
        ends.add(held == [OLD, OLD])
    assert ends == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("step", [pytest.param(STEP, id="a third"), all_points])
def test_a_disk_that_refuses_a_write_anywhere_in_a_restore_leaves_both_folders_alike(tmp_path: Path, step: int) -> None:
    pair = Pair(tmp_path)
    for at in range(step, pair.points() + 1, step):
        held = after_a_fault(pair, Fault(at, error="ENOSPC"), opened=at % 2)
        assert held in ([OLD, OLD], [NEW, NEW]), f"refused at point {at}"


def test_folders_go_back_together_and_no_journal_stays(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    asyncio.run(pair.restore())
    assert pair.held() == [OLD, OLD]
    assert not list(pair.store.glob("*/restoring.json*"))


def test_after_a_loss_of_power_no_folder_forgets_a_restore_that_another_one_would_take_back(tmp_path: Path) -> None:
    pair = Pair(tmp_path)
    if child := os.fork():
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    else:
        code = 1
        try:
            disk = Disk(pair.store, lambda path: disk.cut(tmp_path / "cuts" / f"{len(cuts_of(tmp_path)):03}"))
            disk.install()
            sync_all(pair.store)
            asyncio.run(pair.restore())
            code = 0
        finally:
            os._exit(code)
    # The folders were whole from the cut on in which a journal says so.
    made = False
    for cut in cuts_of(tmp_path):
        journals = [json.loads(found.read_bytes()) for found in sorted(cut.glob("*/restoring.json"))]
        made |= any(journal.get("is_made") for journal in journals)
        assert not made or not journals or any(journal.get("is_made") for journal in journals), cut.name
    assert made
    assert not journals


def cuts_of(folder: Path) -> list[Path]:
    return sorted((folder / "cuts").glob("*"))


def sync_all(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.close(file)


async def test_what_one_folder_lost_is_named_and_all_else_goes_back_in_both(tmp_path: Path) -> None:
    pair = await asyncio.to_thread(Pair, tmp_path)
    place = pair.garbled("changed.txt")
    planned = await pair.shadow(0).plan("1", [(pair.shadow(1), "1")], overwrite=True)
    restored = await pair.shadow(0).restore("1", [(pair.shadow(1), "1")], overwrite=True)
    assert planned.lost == restored.lost == (str(place),)
    assert pair.held() == [OLD, OLD | {"changed.txt": "two"}]


async def test_a_folder_whose_checkpoint_cannot_be_read_is_named_and_none_goes_back(tmp_path: Path) -> None:
    pair = await asyncio.to_thread(Pair, tmp_path)
    pair.garbled("")
    with pytest.raises(NotRestored, match=f"the store of {pair.folders[1]} no longer has all of checkpoint 1"):
        await pair.restore()
    assert pair.held() == [NEW, NEW]
