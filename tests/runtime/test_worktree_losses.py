"""Work in a worktree that git or a record of a merge does not show is still neither lost nor passed over."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.runtime.worktree_bench import LINES, WorktreeBench, change_line, make_bench

from halocline.checkpoints.recovery.journal import Change, Journal, write_journal
from halocline.checkpoints.repository.stores import open_repository
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.objects import write_object
from halocline.checkpoints.store.reading import PLAIN
from halocline.git.worktree_changes import read_ignored
from halocline.protocol.errors import HaloclineError
from halocline.runtime.history.worktrees import Choice

pytestmark = pytest.mark.process


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorktreeBench:
    return make_bench(tmp_path, monkeypatch)


def read_saved(bench: WorktreeBench, folder: Path, checkpoint: str, path: str) -> str:
    folder.mkdir()
    store = open_repository(bench.home / "checkpoints", folder)
    with store.opened() as git:
        return git.run("cat-file", "blob", f"{checkpoint}:{path}").decode()


async def test_merged_work_that_the_main_folder_lost_is_merged_again_and_keeps_the_worktree(
    bench: WorktreeBench,
) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    (folder / "new.txt").write_text("new\n")
    (folder / "gone.txt").unlink()
    await bench.worktrees.merge("x", bench.context())
    bench.git("checkout", "--quiet", ".")
    bench.git("clean", "--quiet", "-fd")
    (work,) = await bench.worktrees.list()
    assert work.unmerged == ("a.txt", "gone.txt", "new.txt")
    with pytest.raises(HaloclineError, match=r"new\.txt"):
        await bench.worktrees.discard("x")
    change_line(folder / "a.txt", 18, "theirs later")
    done = await bench.worktrees.merge("x", bench.context())
    assert done.merged.changed == ("a.txt", "gone.txt", "new.txt")
    assert (bench.main / "a.txt").read_bytes() == (folder / "a.txt").read_bytes()


async def test_a_restore_of_what_was_before_a_merge_into_edited_files_makes_them_unmerged_again(
    bench: WorktreeBench,
) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    (folder / "a.txt").write_text((folder / "a.txt").read_text() + "at the end\n")
    change_line(bench.main / "a.txt", 10, "of the person")
    before = (bench.main / "a.txt").read_text()
    await bench.worktrees.merge("x", bench.context())
    merged = (bench.main / "a.txt").read_text()
    change_line(bench.main / "a.txt", 15, "of the person, later")
    assert (await bench.worktrees.work("x")).is_merged
    (bench.main / "a.txt").write_text(before)
    assert (await bench.worktrees.work("x")).unmerged == ("a.txt",)
    await bench.worktrees.merge("x", bench.context())
    assert (bench.main / "a.txt").read_text() == merged


async def test_merged_work_that_was_edited_since_goes_into_a_checkpoint(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    await bench.worktrees.merge("x", bench.context())
    change_line(bench.main / "a.txt", 2, "of the person")
    gone = await bench.worktrees.discard("x")
    assert read_saved(bench, folder, gone.checkpoint, "a.txt") == LINES.replace("line 2\n", "theirs\n")


@pytest.mark.parametrize("how", ["a link", "many lines", "nothing"])
@pytest.mark.parametrize("force", [False, True])
async def test_a_folder_that_is_there_is_not_discarded_as_missing(bench: WorktreeBench, how: str, force: bool) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    marker = folder / ".git"
    if how == "many lines":
        marker.write_text(marker.read_text() + "\n" * 9000)
    else:
        marker.rename(folder / "real")
    if how == "a link":
        marker.symlink_to("real")
    with pytest.raises(HaloclineError, match="is there, but not as git") as found:
        await bench.worktrees.discard("x", force=force)
    assert "git worktree repair" in found.value.hint
    assert "theirs" in (folder / "a.txt").read_text()


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
async def test_files_that_git_was_told_not_to_look_at_are_merged_and_saved(bench: WorktreeBench, flag: str) -> None:
    folder = await bench.open()
    bench.git("update-index", flag, "a.txt", "gone.txt", folder=folder)
    change_line(folder / "a.txt", 2, "theirs")
    assert (await bench.worktrees.work("x")).unmerged == ("a.txt",)
    with pytest.raises(HaloclineError, match=r"a\.txt"):
        await bench.worktrees.discard("x")
    assert (await bench.worktrees.merge("x", bench.context())).merged.changed == ("a.txt",)
    change_line(folder / "a.txt", 3, "more")
    gone = await bench.worktrees.discard("x", force=True)
    assert "more" in read_saved(bench, folder, gone.checkpoint, "a.txt")


async def test_work_that_is_only_staged_keeps_the_worktree_and_is_named_when_it_goes(bench: WorktreeBench) -> None:
    folder = await bench.open()
    before = (folder / "a.txt").read_text()
    (folder / "new.txt").write_text("staged\n")
    change_line(folder / "a.txt", 2, "staged")
    change_line(folder / "run.sh", 1, "committed")
    bench.git("add", "--all", folder=folder)
    bench.git("commit", "--quiet", "-m", "C", "run.sh", folder=folder)
    (folder / "a.txt").write_text(before)
    (folder / "new.txt").unlink()
    await bench.worktrees.merge("x", bench.context())
    with pytest.raises(HaloclineError, match=r"a\.txt \(only staged\), new\.txt \(only staged\)"):
        await bench.worktrees.discard("x")
    gone = await bench.worktrees.discard("x", force=True)
    assert gone.lost == ("a.txt (only staged)", "new.txt (only staged)")


async def test_a_staged_file_that_the_folder_has_is_not_named_twice(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "staged")
    bench.git("add", "--all", folder=folder)
    change_line(folder / "a.txt", 2, "later")
    assert (await bench.worktrees.work("x")).staged == ()


async def test_one_path_that_git_refuses_does_not_hide_the_ignored_ones(bench: WorktreeBench) -> None:
    (bench.main / "link").symlink_to(".")
    found = await read_ignored(bench.main, [b"x.local", b"link/y", b"plain", b"z.local"])
    assert {path: why for path, why in found.items() if path != b"link/y"} == dict.fromkeys(
        (b"x.local", b"z.local"), "the main folder ignores it"
    )
    assert "beyond a symbolic link" in found[b"link/y"]


async def test_the_last_merge_of_a_discarded_worktree_can_be_undone_by_its_checkpoint(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    merged = (await bench.worktrees.merge("x", bench.context())).merged
    assert (await bench.worktrees.discard("x")).before_merge == merged.undo


async def test_a_name_that_two_worktrees_have_is_refused(bench: WorktreeBench, tmp_path: Path) -> None:
    await bench.open()
    bench.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "other-worktrees/x"))
    with pytest.raises(HaloclineError, match=r"Several worktrees are named x: .*other-worktrees"):
        await bench.worktrees.discard("x")


async def test_a_link_that_goes_up_behind_a_name_counts_as_leading_out(bench: WorktreeBench) -> None:
    folder = await bench.open()
    (folder / "b").symlink_to(".")
    (folder / "a").symlink_to("b/../outside")
    (folder / "sub").mkdir()
    (folder / "sub/up").symlink_to("../a.txt")
    done = await bench.worktrees.merge("x", bench.context())
    assert ([one.path for one in done.guarded], done.merged.changed) == (["a"], ("b", "sub/up"))


async def test_a_deletion_that_a_choice_left_counts_as_merged_until_the_file_is_back(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    (bench.main / "a.txt").unlink()
    done = await bench.worktrees.merge("x", bench.context(), Choice.OURS)
    assert done.is_whole
    (work,) = await bench.worktrees.list()
    assert (work.is_merged, work.edited) == (True, ("a.txt",))
    (folder / "new.txt").write_text("new\n")
    await bench.worktrees.merge("x", bench.context())
    assert (await bench.worktrees.work("x")).is_merged
    bench.git("checkout", "--quiet", "a.txt")
    assert (await bench.worktrees.work("x")).unmerged == ("a.txt",)


async def test_what_a_killed_merge_left_half_made_is_undone_before_worktrees_are_compared(bench: WorktreeBench) -> None:
    folder = await bench.open()
    (folder / "new.txt").write_text("new\n")
    await bench.worktrees.merge("x", bench.context())
    change_line(folder / "a.txt", 2, "theirs")
    before, after = (bench.main / "a.txt").read_bytes(), (folder / "a.txt").read_bytes()
    store = open_repository(bench.home / "checkpoints", bench.main)
    with store.opened() as git:
        old, new = (Entry(PLAIN, write_object(git.store, b"blob", content)) for content in (before, after))
    write_journal(store.path, Journal(".halo-1.tmp", (Change(b"a.txt", old, new),)))
    (bench.main / "a.txt").write_bytes(after)
    (work,) = await bench.worktrees.list()
    assert work.unmerged == ("a.txt",)
    assert (bench.main / "a.txt").read_bytes() == before


@pytest.mark.parametrize("may", [True, False])
async def test_what_no_checkpoint_can_hold_is_asked_about_before_it_is_lost(bench: WorktreeBench, may: bool) -> None:
    folder = await bench.open()
    (folder / "large.bin").write_bytes(bytes(6_000_000))
    asked = []

    async def may_lose(files: Sequence[str]) -> bool:
        asked.append((*files, folder.exists()))
        return may

    if may:
        await bench.worktrees.discard("x", force=True, may_lose=may_lose)
    else:
        with pytest.raises(HaloclineError, match="stays"):
            await bench.worktrees.discard("x", force=True, may_lose=may_lose)
    assert asked == [("large.bin", True)]
    assert folder.exists() == (not may)
