import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.runtime.worktree_bench import WorktreeBench, change_line, make_bench

from halocline.client.options import Choices
from halocline.client.tasks import Client, open_client
from halocline.protocol.errors import HaloclineError
from halocline.protocol.queries.tasks import TaskInfo
from halocline.surfaces.board.entries import TaskEntry, fits_filter
from halocline.surfaces.board.worktrees import (
    WorktreeStates,
    describe_loss,
    discard_worktree,
    open_worktrees,
)

pytestmark = pytest.mark.process


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorktreeBench:
    monkeypatch.setenv("HALOCLINE_HOME", str(tmp_path / "home"))
    return make_bench(tmp_path, monkeypatch)


@pytest.fixture
def client(bench: WorktreeBench) -> Client:
    return open_client(Choices(), folder=bench.main)


async def test_a_worktree_stands_as_a_merge_would_find_it(bench: WorktreeBench, client: Client) -> None:
    folder = await bench.open("261130-101501-abcd-2")
    states = WorktreeStates(client, lambda: None)

    async def look() -> str:
        states.look_again()
        await states.refresh({str(folder): 1.0})
        found = states.find(str(folder))
        assert found
        return f"{found.standing}: {found.text}"

    assert await look() == "no changes: no changes"
    change_line(folder / "a.txt", 2, "theirs")
    (folder / "new.txt").write_text("new\n")
    assert await look() == "to merge: 2 files to merge +2 −1"
    change_line(bench.main / "a.txt", 2, "ours")
    assert await look() == "conflict: 2 files to merge +2 −1 · 1 conflict"
    bench.git("init", "--quiet", "lib", folder=folder)
    (folder / "lib/a.txt").write_text("own\n")
    assert await look() == "conflict: 2 files to merge +2 −1 · 1 conflict · not merged: lib"
    shutil.rmtree(folder / "lib")
    state = states.find(str(folder))
    assert state
    assert state.group == "261130-101501-abcd"
    row = TaskEntry(TaskInfo("t", "a", "b", str(folder), 0.0, 0.0, "end_turn", 0), worktree=state.name, work=state).row
    assert fits_filter(row, "CONFLICT")
    change_line(bench.main / "a.txt", 2, "theirs")
    (bench.main / "new.txt").write_text("new\n")
    assert await look() == "no changes: no changes"
    service, worktree = await open_worktrees(client, folder)
    await service.discard(worktree)
    assert await look() == "gone: gone"
    with pytest.raises(HaloclineError, match="is gone"):
        await open_worktrees(client, folder)


async def test_a_loss_names_what_a_checkpoint_keeps_and_what_nothing_does(bench: WorktreeBench, client: Client) -> None:
    folder = await bench.open()
    service, name = await open_worktrees(client, folder)
    rest = "Files that git ignores go with the folder. A branch with commits of its own stays."
    assert describe_loss(await service.work(name)) == ["It has no changes.", rest]
    (folder / "new.txt").write_text("new\n")
    work = replace(await service.work(name), staged=("only.txt",))
    assert describe_loss(work) == [
        "Not merged, a checkpoint keeps it: new.txt.",
        "Not merged, and lost: only.txt (only staged).",
        rest,
    ]
    with pytest.raises(HaloclineError, match=r"has more by now: new\.txt"):
        await discard_worktree(service, name, ())
    assert (await discard_worktree(service, name, ("new.txt",))).checkpoint
    assert not folder.exists()
