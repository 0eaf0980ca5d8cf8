"""kill -9 of parents, writing agents and the background process on one repository: nothing is lost or done twice.

What happened is in the file `diary` of the test's folder. Other seeds: `CROWD_SEEDS=3,11 pytest -m long` on this file.
"""

import os
from collections import Counter
from pathlib import Path

import pytest
from tests.crashes.crowd import SLOTS, Crowd
from tests.crashes.crowd_model import CrowdModel, Part, Plan
from tests.journeys.soundness import assert_sound
from tests.servers.model_server import ModelServer
from tests.surfaces.cli.halo_process import Halo

from halocline.protocol import codec, events as ev

pytestmark = [pytest.mark.process, pytest.mark.slow]
FEW, MANY = 6, 60
SEEDS = [int(seed) for seed in os.environ.get("CROWD_SEEDS", "2").split(",")]


async def kill_and_finish(halo: Halo, kills: int, seed: int) -> Crowd:
    model = CrowdModel()
    async with ModelServer(thinks=model.answer) as server:
        crowd = Crowd(halo, model, server.url("deepseek"), seed)
        try:
            while len(crowd.kills) < kills:
                crowd.begin_plans()
                await crowd.start_all()
                await crowd.kill_one()
            await crowd.finish()
            judge(crowd)
        finally:
            crowd.clean_up()
    return crowd


def judge(crowd: Crowd) -> None:
    folder = crowd.halo.folder
    parts = [part for plan in crowd.plans for part in plan.parts]
    steps = [step for part in parts for step in part.steps] + [plan.last for plan in crowd.plans]
    tokens = [step.shown for step in steps if step.file == str(crowd.trace)]
    assert Counter(crowd.trace.read_text().split()) == Counter(tokens)
    for log in crowd.halo.home.glob(f"tasks/*/{codec.LOG_NAME}"):
        assert_sound([codec.decode(line) for line in log.read_bytes().splitlines()])
    for part in parts:
        lines = (folder / f"{part.name}.txt").read_text().split()
        assert Counter(lines) == Counter(step.shown for step in part.steps if step.file == f"{part.name}.txt")
        assert_worktree_is_whole(folder, part)
    shared, clash = (Counter((folder / name).read_text().split("\n")) for name in ("shared.txt", "clash.txt"))
    assert [shared[f"by-{part.name}"] for part in parts] == [1] * len(parts)
    assert [shared[f"slot-{at}"] for at in range(SLOTS)] == [1] * SLOTS
    for number, plan in enumerate(crowd.plans):
        won = [part for part in plan.parts if clash[f"clash-{number}-{part.name}"]]
        assert len(won) == 1
        assert_conflict_is_told(crowd, plan, number)
    assert_persons_files_are_untouched(crowd)


def assert_worktree_is_whole(folder: Path, part: Part) -> None:
    (work,) = folder.with_name(f"{folder.name}-worktrees").glob(f"{part.name}-*")
    for step in part.steps:
        if not step.file.startswith("/"):
            assert (work / step.file).read_text().split("\n").count(step.shown) == 1


def assert_conflict_is_told(crowd: Crowd, plan: Plan, number: int) -> None:
    """Both sides of what overlaps came back to the task, and the one that lost stays in its worktree."""
    events = [codec.decode(line) for line in crowd.log_of(plan.name).read_bytes().splitlines()]
    told = "".join(event.result.text for event in events if isinstance(event, ev.ToolCallEnded))
    assert all(f"clash-{number}-{part.name}" in told for part in plan.parts)
    assert "CONFLICT: clash.txt" in told
    paths = Counter(event.path for event in events if isinstance(event, ev.FileChanged))
    assert all(paths[f"{part.name}.txt"] <= 1 for part in plan.parts)


def assert_persons_files_are_untouched(crowd: Crowd) -> None:
    folder = crowd.halo.folder
    edits = "".join(f"edit {number}\n" for number in range(1, len(crowd.kills) + 1))
    assert (folder / "person.txt").read_text() == f"the person's\nnot committed\n{edits}"
    assert (folder / "untracked.txt").read_text() == "not added\n"
    assert crowd.git("fsck", "--strict") == ""
    assert crowd.git("stash", "list") == ""
    assert crowd.git("log", "--format=%s").split() == ["first"]
    assert crowd.git("diff", "--cached", "--name-only") == ""
    changed = {line[3:] for line in crowd.git("status", "--porcelain").splitlines()}
    own = {f"{part.name}.txt" for plan in crowd.plans for part in plan.parts}
    assert changed == {"person.txt", "untracked.txt", "shared.txt", "clash.txt", *own}
    litter = [str(path) for path in folder.parent.rglob(".halo-*") if "home" not in path.parts]
    litter += [path.name for path in (crowd.halo.home / "edits").glob("*") if path.name != "lock"]
    assert litter == []


async def test_killed_trees_and_their_background_lose_nothing_and_do_nothing_twice(halo: Halo) -> None:
    await kill_and_finish(halo, FEW, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
async def test_trees_and_their_background_killed_sixty_times_lose_nothing(halo: Halo, seed: int) -> None:
    crowd = await kill_and_finish(halo, MANY, seed)
    assert {*crowd.kills} == {"front", "back", "all", "child"}
