"""A restore of several files whose process is killed at a write, and then the one that undoes it, too.

Each file is set, or set back, or named; and the next restore sets all of them.
"""

import asyncio
import os
import shutil
from collections.abc import Coroutine, Iterator
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, seen
from tests.crashes.faults import Fault, FaultTime, Points

from halocline.checkpoints.repository.stores import open_repository
from halocline.checkpoints.restore.merge_in import Source, merge_files
from halocline.checkpoints.store.layout import JOURNAL
from halocline.checkpoints.store.reading import PLAIN, Kept

SET_BACK = {"c": "c 1\n", "d": "d 1\n", "new/e": "e 1\n", "gone": None}
SET = {"c": "c 0\n", "d": "d 0\n", "new/e": None, "gone": "gone 0\n"}
MERGED = {"c": "c 2\n", "d": None, "new/e": "e 1\ne 2\n", "gone": "gone 2\n"}
STEP = 7
"""The usual run tries every seventh point; `make crash-matrix` tries all."""
BY_STEPS = pytest.mark.parametrize("step", [STEP, pytest.param(1, marks=pytest.mark.long, id="all")])


class Killing:
    """A folder with a patch by the task and a change by a person, as often as it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._live = folder / "live"
        (self._live / "home").mkdir(parents=True)
        self._fresh().workspace.mkdir()
        asyncio.run(self._prepare(self._fresh()))
        self._live.rename(folder / "prepared")

    def _fresh(self) -> Bench:
        return Bench(self._live / "work", self._live / "store", self._live / "home")

    async def _prepare(self, bench: Bench) -> None:
        for name, text in {"c": "c 0\n", "d": "d 0\n", "gone": "gone 0\n", "mine": "mine 0\n"}.items():
            bench.write(name, text)
        shadow = await bench.begun()
        for name, text in {"c": "c 1\n", "d": "d 1\n", "new/e": "e 1\n"}.items():
            bench.write(name, text)
        (bench.workspace / "gone").unlink()
        await seen(shadow)
        bench.write("mine", "mine 1\n")
        await shadow.close()

    def start(self) -> Bench:
        """The same beginning again."""
        shutil.rmtree(self._live, ignore_errors=True)
        shutil.copytree(self._folder / "prepared", self._live)
        return self._fresh()

    def run(self, work: Coroutine[None, None, None], fault: Fault) -> int:
        """How many points a child had that did the work; 0 if it was killed."""
        counted = self._folder / "points"
        if not (child := os.fork()):
            points = Points(fault)
            points.install()
            asyncio.run(work)
            counted.write_text(str(points.count))
            os._exit(0)
        work.close()
        return 0 if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) else int(counted.read_text())

    def kill_each(self, work: Coroutine[None, None, None], step: int) -> Iterator[Fault]:
        """The faults that kill a child in this work, from its beginning to its end."""
        for at in range(1, self.run(work, Fault()) + 1, step):
            yield Fault(at, FaultTime.AFTER if at % 2 else FaultTime.BEFORE)


@pytest.fixture
def killing(tmp_path: Path) -> Killing:
    return Killing(tmp_path)


async def restored(bench: Bench) -> None:
    await bench.shadow().restore("1")


async def opened(bench: Bench) -> None:
    await bench.shadow("t2").list()


def found(bench: Bench) -> dict[str, str | None]:
    places = {name: bench.workspace / name for name in SET}
    return {name: place.read_text() if place.exists() else None for name, place in places.items()}


async def assert_all_can_be_restored(bench: Bench) -> None:
    shadow = await bench.begun()
    assert not (bench.repository / JOURNAL).exists()
    done = await shadow.restore("1")
    assert (found(bench), done.yours, (bench.workspace / "mine").read_text()) == (SET, ("mine",), "mine 1\n")
    await shadow.close()


@pytest.mark.slow
@BY_STEPS
def test_a_restore_that_is_killed_at_any_write_sets_all_files_or_sets_all_back(killing: Killing, step: int) -> None:
    ends = set()
    for fault in killing.kill_each(restored(killing.start()), step):
        bench = killing.start()
        killing.run(restored(bench), fault)
        asyncio.run(bench.begun())
        ends.add(is_set := found(bench) == SET)
        assert is_set or found(bench) == SET_BACK, f"killed at {fault}: {found(bench)}"
        # What nobody's log says is told: what was done, and what stayed.
        assert not is_set or any("before the task's log" in one and "mine" in one for one in bench.notices), fault
        asyncio.run(assert_all_can_be_restored(bench))
    assert ends == {True, False}


def plain(text: str | None) -> Kept | None:
    return None if text is None else Kept(text.encode(), PLAIN)


async def merged(bench: Bench) -> None:
    repository = open_repository(bench.store, bench.workspace, "worktree-x")
    sides = {os.fsencode(name): (plain(SET_BACK[name]), plain(text)) for name, text in MERGED.items()}
    done = merge_files(repository, Source("worktree x", "worktree-x", "base", "made"), sides)
    assert (done.conflicts, done.kept) == ((), ())


@pytest.mark.slow
@BY_STEPS
def test_a_merge_that_is_killed_at_any_write_sets_all_files_or_none_and_can_be_repeated(
    killing: Killing, step: int
) -> None:
    ends = set()
    for fault in killing.kill_each(merged(killing.start()), step):
        bench = killing.start()
        killing.run(merged(bench), fault)
        asyncio.run(bench.begun())
        ends.add(is_set := found(bench) == MERGED)
        assert is_set or found(bench) == SET_BACK, f"killed at {fault}: {found(bench)}"
        asyncio.run(merged(bench))
        assert found(bench) == MERGED
    assert ends == {True, False}


@pytest.mark.slow
@BY_STEPS
@pytest.mark.parametrize("theirs", [None, "theirs\n"], ids=["alone", "changed"])
def test_a_recovery_that_is_killed_at_any_write_is_ended_by_the_next_and_names_what_it_leaves(
    killing: Killing, step: int, theirs: str | None
) -> None:
    cut = Fault(text="d 0\n", moment=FaultTime.AFTER)  # the deletion and `c` are done, `d` is staged

    def cut_short() -> Bench:
        bench = killing.start()
        assert not killing.run(restored(bench), cut)
        assert (found(bench)["new/e"], found(bench)["d"]) == (None, "d 1\n")
        if theirs:
            bench.write("d", theirs)
        return bench

    for fault in killing.kill_each(opened(cut_short()), step):
        bench = cut_short()
        killing.run(opened(bench), fault)
        asyncio.run(bench.begun("t3"))
        assert found(bench) == SET_BACK | ({"d": theirs} if theirs else {}), f"killed at {fault}"
        said = [one for one in bench.notices if "interrupted" in one]
        assert said
        assert not theirs or said[-1].endswith(" d.")
        if not theirs:
            asyncio.run(assert_all_can_be_restored(bench))
