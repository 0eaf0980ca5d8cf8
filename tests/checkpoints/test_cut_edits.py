"""A process that dies anywhere around an edit leaves what the person had, and the edit counts as the task's."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench
from tests.crashes.faults import Fault, FaultTime, Points

from halocline.checkpoints.shadow_git import ShadowGit

PERSON, TASK = "the person's", "the task's"
SOON, LATE = 0.0, 30.0
"""Seconds that the first checkpoint waits: it is made beside the edit, or never."""


class Cut:
    """A task that edits two files, the second of which is new, in a process that dies at a point."""

    def __init__(self, bench: Bench, delay: float, *, is_resumed: bool) -> None:
        self._bench, self._delay, self._is_resumed = bench, delay, is_resumed
        self._count = bench.workspace.parent / "count"

    def points(self) -> int:
        assert self.edited(Fault()) == 0
        return int(self._count.read_text())

    def edited(self, fault: Fault) -> int:
        """How the child ended."""
        if child := os.fork():
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        code = 1
        try:
            asyncio.run(self._edit(fault))
            code = 0
        finally:
            os._exit(code)

    async def _edit(self, fault: Fault) -> None:
        bench = self._bench
        if self._is_resumed:
            bench.write("a", "older")
            shadow = self._shadow(SOON)
            shadow.begin(lambda event: None)
            await shadow.settle()
            await shadow.close()
        bench.write("a", PERSON)
        points = Points(fault)
        points.install()
        shadow = self._shadow(self._delay)
        shadow.begin(lambda event: None)
        for name, before in (("a", PERSON.encode), ("made", None)):
            await shadow.barrier([name], ran=False)
            Path(bench.workspace, name).write_bytes(TASK.encode())
            shadow.wrote(name, before, TASK.encode)
            shadow.take(f"Edit {name}", [name])
        if self._delay == SOON:
            await shadow.settle()
        self._count.write_text(str(points.count))

    def _shadow(self, delay: float) -> ShadowGit:
        return ShadowGit(self._bench.store, self._bench.workspace, "t1", delay=delay, home=Path("/nowhere"))


async def restored(bench: Bench, *, is_resumed: bool, opens: bool) -> dict[str, str]:
    """Take back what the task did, after it was opened again or by hand. Gives what the folder holds then."""
    shadow = ShadowGit(bench.store, bench.workspace, "t1", delay=0, home=bench.home)
    if opens:
        shadow.begin(bench.events.append)
        await shadow.settle()
    infos = await shadow.list("t1")
    edited = {path.name for path in bench.workspace.iterdir() if path.read_text() == TASK}
    plan = await shadow.plan("2" if is_resumed and len(infos) > 1 else "1")
    assert {*plan.overwrites, *plan.deletes} >= edited, (plan, edited)
    assert not edited & {*plan.yours, *plan.doubtful, *plan.others, *plan.conflicts}
    await shadow.restore("2" if is_resumed and len(infos) > 1 else "1")
    await shadow.close()
    return {path.name: path.read_text() for path in bench.workspace.iterdir()}


@pytest.fixture
def benches(tmp_path: Path) -> Callable[[int], Bench]:
    def made(number: int) -> Bench:
        folder = tmp_path / str(number)
        (folder / "project").mkdir(parents=True)
        return Bench(folder / "project", folder / "home" / "checkpoints", Path("/nowhere"))

    return made


@pytest.mark.slow
@pytest.mark.parametrize(("is_resumed", "opens"), [(False, True), (True, True), (True, False)])
@pytest.mark.parametrize("delay", [SOON, LATE])
def test_whatever_point_a_process_dies_at_a_restore_brings_back_what_the_person_had(
    benches: Callable[[int], Bench], delay: float, is_resumed: bool, opens: bool
) -> None:
    points = Cut(benches(0), delay, is_resumed=is_resumed).points()
    seen = set()
    for at in range(1, points + 1):
        bench = benches(at)
        Cut(bench, delay, is_resumed=is_resumed).edited(Fault(at, FaultTime.AFTER if at % 2 else FaultTime.BEFORE))
        seen |= {path.name for path in bench.workspace.iterdir() if path.read_text() == TASK}
        held = asyncio.run(restored(bench, is_resumed=is_resumed, opens=opens))
        assert held == {"a": PERSON}, f"killed at point {at} of {points}"
    assert seen == {"a", "made"}
