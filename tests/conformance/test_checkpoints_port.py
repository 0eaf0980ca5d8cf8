from pathlib import Path

import pytest

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.ports.checkpoints import Checkpoints
from halocline.protocol.events import CheckpointFailed, CheckpointTaken, DurableEvent, Noticed


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture(params=["shadow git", "shadow git that is off"])
def checkpoints(request: pytest.FixtureRequest, tmp_path: Path, workspace: Path) -> Checkpoints:
    home = workspace if request.param.endswith("off") else tmp_path / "home"
    return ShadowGit(tmp_path / "store", workspace, "t1", delay=0, home=home)


async def test_waiting_before_anything_was_asked_for_returns(checkpoints: Checkpoints) -> None:
    await checkpoints.barrier()
    await checkpoints.settle()


async def test_after_settle_everything_asked_for_has_been_answered(checkpoints: Checkpoints, workspace: Path) -> None:
    events: list[DurableEvent | Noticed] = []
    checkpoints.begin(events.append)
    await checkpoints.barrier()
    (workspace / "a.txt").write_text("a")
    checkpoints.take("edit", ["a.txt"])
    await checkpoints.settle()
    taken = [event for event in events if isinstance(event, CheckpointTaken)]
    failures = [event for event in events if isinstance(event, CheckpointFailed)]
    assert ([event.label for event in taken], len(failures)) in ((["Start", "edit"], 0), ([], 1))
    assert len({event.checkpoint for event in taken}) == len(taken)


async def test_paths_and_no_paths_are_both_accepted(checkpoints: Checkpoints, workspace: Path) -> None:
    checkpoints.begin(lambda event: None)
    checkpoints.take("nothing", [])
    checkpoints.take("relative", ["missing.txt"])
    checkpoints.take("absolute", [str(workspace / "missing.txt")])
    checkpoints.take("anything")
    await checkpoints.barrier()
    await checkpoints.settle()
