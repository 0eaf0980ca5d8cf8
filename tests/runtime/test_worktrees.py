import os
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.runtime.worktree_bench import LINES, WorktreeBench, change_line, make_bench

from halocline.git.worktree_list import find_worktree_at
from halocline.protocol.errors import HaloclineError
from halocline.protocol.permission_rules import RuleBook
from halocline.runtime.history.worktrees import Choice

pytestmark = pytest.mark.process


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorktreeBench:
    return make_bench(tmp_path, monkeypatch)


async def test_a_worktree_without_changes_has_nothing_to_merge(bench: WorktreeBench) -> None:
    folder = await bench.open()
    (work,) = await bench.worktrees.list()
    assert (work.worktree.name, work.worktree.folder, work.worktree.branch) == ("x", folder, "worktree-x")
    assert work.is_merged
    assert (work.ahead, work.behind) == (0, 0)


async def test_a_merge_brings_committed_uncommitted_and_new_files_but_no_ignored_ones(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "committed")
    bench.commit(folder)
    change_line(folder / "a.txt", 19, "uncommitted")
    (folder / "new").mkdir()
    (folder / "new/file name.txt").write_text("new\n")
    (folder / "gone.txt").unlink()
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("a.txt")
    (folder / "mine.local").write_text("ignored\n")
    change_line(bench.main / "a.txt", 10, "of the person")
    done = await bench.worktrees.merge("x", bench.context())
    text = (bench.main / "a.txt").read_text().splitlines()
    assert (text[1], text[9], text[18]) == ("committed", "of the person", "uncommitted")
    assert (bench.main / "new/file name.txt").read_text() == "new\n"
    assert not (bench.main / "gone.txt").exists()
    assert os.access(bench.main / "run.sh", os.X_OK)
    assert os.readlink(bench.main / "link") == "a.txt"
    assert not (bench.main / "mine.local").exists()
    assert done.is_whole
    assert done.merged.merges == ("a.txt",)
    assert bench.git("diff", "--cached", "--name-only") == ""
    assert (await bench.worktrees.work("x")).is_merged


async def test_an_undone_merge_leaves_all_as_before_and_keeps_later_edits(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    (folder / "new.txt").write_text("new\n")
    (folder / "gone.txt").unlink()
    change_line(bench.main / "a.txt", 10, "before")
    before = (bench.main / "a.txt").read_text()
    await bench.worktrees.merge("x", bench.context())
    change_line(bench.main / "a.txt", 18, "since")
    undone = await bench.worktrees.undo("x")
    assert undone.conflicts == ()
    assert (bench.main / "a.txt").read_text() == before.replace("line 18", "since")
    assert not (bench.main / "new.txt").exists()
    assert (bench.main / "gone.txt").read_text() == "old\n"
    assert (await bench.worktrees.work("x")).unmerged == ("a.txt", "gone.txt", "new.txt")
    with pytest.raises(HaloclineError, match="Nothing was merged"):
        await bench.worktrees.undo("x")


async def test_overlapping_changes_stay_and_are_shown_by_hunk(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    change_line(folder / "a.txt", 15, "theirs too")
    (folder / "other.txt").write_text("other\n")
    (bench.main / "a.txt").write_text("first\n" + LINES)
    change_line(bench.main / "a.txt", 16, "ours")
    before = (bench.main / "a.txt").read_bytes()
    done = await bench.worktrees.merge("x", bench.context())
    (conflict,) = done.merged.conflicts
    assert [(hunk.line, hunk.ours, hunk.theirs) for hunk in conflict.hunks] == [(16, "ours\n", "theirs too\n")]
    assert (bench.main / "a.txt").read_bytes() == before
    assert (bench.main / "other.txt").exists()
    assert not done.is_whole


@pytest.mark.parametrize(
    ("choice", "line"),
    [(Choice.OURS, ["ours"]), (Choice.THEIRS, ["theirs"]), (Choice.MARKERS, ["<<<<<<< main folder", "ours"])],
)
async def test_a_choice_decides_overlapping_lines(bench: WorktreeBench, choice: Choice, line: list[str]) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    change_line(folder / "a.txt", 15, "more")
    change_line(bench.main / "a.txt", 2, "ours")
    done = await bench.worktrees.merge("x", bench.context(), choice)
    text = (bench.main / "a.txt").read_text().splitlines()
    assert text[1 : 1 + len(line)] == line
    assert "more" in text
    assert done.is_whole
    (folder / "new.txt").write_text("new\n")
    again = await bench.worktrees.merge("x", bench.context())
    assert again.merged.changed == ("new.txt",)


async def test_a_later_merge_starts_from_the_last_one(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "first")
    await bench.worktrees.merge("x", bench.context())
    change_line(bench.main / "a.txt", 2, "edited after the merge")
    change_line(folder / "a.txt", 18, "second")
    done = await bench.worktrees.merge("x", bench.context())
    text = (bench.main / "a.txt").read_text().splitlines()
    assert (text[1], text[17]) == ("edited after the merge", "second")
    assert done.is_whole
    change_line(folder / "a.txt", 18, "line 18")  # the worktree takes it back
    await bench.worktrees.merge("x", bench.context())
    text = (bench.main / "a.txt").read_text().splitlines()
    assert text[17] == "line 18"


async def test_two_worktrees_merge_and_one_is_undone_alone(bench: WorktreeBench) -> None:
    one, two = await bench.open("one"), await bench.open("two")
    change_line(one / "a.txt", 2, "one")
    change_line(two / "a.txt", 18, "two")
    (two / "two.txt").write_text("two\n")
    await bench.worktrees.merge("one", bench.context())
    await bench.worktrees.merge("two", bench.context())
    await bench.worktrees.undo("one")
    assert (bench.main / "a.txt").read_text() == LINES.replace("line 18", "two")
    assert (bench.main / "two.txt").exists()


async def test_the_diff_goes_from_the_common_commit_to_the_files_now(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "committed")
    bench.commit(folder)
    (folder / "new.txt").write_text("new\n")
    found = await bench.worktrees.diff("x")
    assert [(file.path, file.kind) for file in found.files] == [("a.txt", "changed"), ("new.txt", "added")]
    assert "+committed" in found.files[0].diff


async def test_a_worktree_with_unmerged_work_is_only_discarded_by_force_and_kept_in_a_checkpoint(
    bench: WorktreeBench,
) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    with pytest.raises(HaloclineError, match=r"not merged: a\.txt"):
        await bench.worktrees.discard("x")
    assert folder.exists()
    gone = await bench.worktrees.discard("x", force=True)
    assert not folder.exists()
    assert gone.checkpoint
    assert "worktree-x" not in bench.git("branch")
    assert await bench.worktrees.list() == ()


async def test_a_discarded_worktree_leaves_a_branch_with_commits_of_its_own(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    bench.commit(folder)
    await bench.worktrees.merge("x", bench.context())
    gone = await bench.worktrees.discard("x")
    assert (gone.commits, gone.branch, gone.checkpoint) == (1, "worktree-x", "")
    assert "worktree-x" in bench.git("branch")


async def test_a_new_worktree_in_the_place_of_another_does_not_take_over_what_that_merged(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    await bench.worktrees.merge("x", bench.context())
    bench.git("worktree", "remove", "--force", str(folder))
    folder = await bench.open()
    assert (await bench.worktrees.work("x")).unmerged == ()
    await bench.worktrees.merge("x", bench.context())
    assert "theirs" in (bench.main / "a.txt").read_text()


async def test_hidden_and_guarded_files_are_named_and_not_merged(bench: WorktreeBench) -> None:
    (bench.main / ".haloclineignore").write_text("hidden.txt\n")
    folder = await bench.open()
    for name in ("hidden.txt", ".env", ".vscode/tasks.json", "plain.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x\n")
    done = await bench.worktrees.merge("x", bench.context(RuleBook(ignored=("hidden.txt",))))
    assert (bench.main / "plain.txt").exists()
    assert {one.path for one in done.guarded} == {".env", ".vscode/tasks.json"}
    assert {one.path for one in done.refused} == {"hidden.txt"}
    assert not (bench.main / "hidden.txt").exists()
    assert not done.is_whole
    await bench.worktrees.merge("x", bench.context(RuleBook(ignored=("hidden.txt",))), guarded=True)
    assert (bench.main / ".vscode/tasks.json").exists()
    assert not (bench.main / "hidden.txt").exists()


async def test_a_link_in_the_main_folder_is_not_followed(bench: WorktreeBench, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = await bench.open()
    (folder / "sub").mkdir()
    (folder / "sub/new.txt").write_text("x\n")
    (bench.main / "sub").symlink_to(tmp_path / "elsewhere")
    done = await bench.worktrees.merge("x", bench.context(), guarded=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert [one.path for one in done.refused] == ["sub/new.txt"]


async def test_a_pointer_of_git_lfs_counts_as_the_file_that_it_names(bench: WorktreeBench) -> None:
    content = b"large\n" * 100
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256(content).hexdigest()}\nsize 600\n"
    (bench.main / "data.txt").write_text(pointer)
    bench.commit()
    folder = await bench.open()
    (folder / "data.txt").write_bytes(content)
    (bench.main / "data.txt").write_bytes(content)
    assert (await bench.worktrees.work("x")).unmerged == ()
    (folder / "data.txt").write_bytes(content + b"more\n")
    done = await bench.worktrees.merge("x", bench.context())
    assert done.merged.changed == ("data.txt",)
    assert (bench.main / "data.txt").read_bytes() == content + b"more\n"


async def test_merges_are_undone_one_by_one(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "first")
    await bench.worktrees.merge("x", bench.context())
    change_line(folder / "a.txt", 18, "second")
    await bench.worktrees.merge("x", bench.context())
    await bench.worktrees.undo("x")
    assert (bench.main / "a.txt").read_text() == LINES.replace("line 2\n", "first\n")
    assert (await bench.worktrees.work("x")).unmerged == ("a.txt",)
    await bench.worktrees.undo("x")
    assert (bench.main / "a.txt").read_text() == LINES
    assert (await bench.worktrees.merge("x", bench.context())).merged.changed == ("a.txt",)


async def test_an_undo_leaves_lines_that_a_person_changed_again(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    (folder / "new.txt").write_text("new\n")
    await bench.worktrees.merge("x", bench.context())
    change_line(bench.main / "a.txt", 2, "mine now")
    undone = await bench.worktrees.undo("x")
    assert undone.conflicts == ("a.txt",)
    assert "mine now" in (bench.main / "a.txt").read_text()
    assert not (bench.main / "new.txt").exists()


async def test_a_file_takes_the_place_of_a_folder_and_the_other_way_round(bench: WorktreeBench) -> None:
    (bench.main / "sub").mkdir()
    (bench.main / "sub/b.txt").write_text("b\n")
    bench.commit()
    folder = await bench.open()
    (folder / "sub/b.txt").unlink()
    (folder / "sub").rmdir()
    (folder / "sub").write_text("now a file\n")
    (folder / "gone.txt").unlink()
    (folder / "gone.txt").mkdir()
    (folder / "gone.txt/in").write_text("now a folder\n")
    assert (await bench.worktrees.merge("x", bench.context())).is_whole
    assert (bench.main / "sub").read_text() == "now a file\n"
    assert (bench.main / "gone.txt/in").read_text() == "now a folder\n"
    await bench.worktrees.undo("x")
    assert (bench.main / "sub/b.txt").read_text() == "b\n"
    assert (bench.main / "gone.txt").read_text() == "old\n"


async def test_a_link_that_leads_out_of_the_folder_waits_for_a_word(bench: WorktreeBench) -> None:
    folder = await bench.open()
    (folder / "out").symlink_to("../../elsewhere")
    (folder / "in").symlink_to("a.txt")
    done = await bench.worktrees.merge("x", bench.context())
    assert ([one.path for one in done.guarded], done.merged.changed) == (["out"], ("in",))


async def test_what_no_checkpoint_holds_is_named_when_it_goes(bench: WorktreeBench) -> None:
    folder = await bench.open()
    (folder / ".env").write_text("TOKEN=x\n")
    (folder / "new.txt").write_text("new\n")
    gone = await bench.worktrees.discard("x", force=True)
    assert gone.lost == (".env",)


async def test_a_preview_says_what_a_merge_would_do_and_writes_no_file(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    (folder / "new.txt").write_text("new\n")
    change_line(bench.main / "a.txt", 2, "ours")
    before = {path.name: path.read_bytes() for path in bench.main.glob("*.txt")}
    seen = await bench.worktrees.preview("x", bench.context())
    assert {path.name: path.read_bytes() for path in bench.main.glob("*.txt")} == before
    assert (seen.work.unmerged, seen.work.undo) == (("a.txt", "new.txt"), "")
    assert (seen.changes.added, seen.changes.removed) == (2, 1)
    done = await bench.worktrees.merge("x", bench.context())
    assert seen.merge == replace(done, merged=replace(done.merged, undo=""))
    assert (await bench.worktrees.work("x")).undo == done.merged.undo


async def test_a_worktree_is_found_by_a_folder_in_it_also_when_it_is_gone(bench: WorktreeBench) -> None:
    folder = await bench.open()
    (folder / "sub").mkdir()
    found = find_worktree_at(folder / "sub")
    assert found
    assert (found.name, found.main) == ("x", bench.main)
    assert find_worktree_at(bench.main) is None
    await bench.worktrees.discard("x")
    gone = find_worktree_at(folder)
    assert gone
    assert (gone.name, gone.is_missing, gone.made) == ("x", True, "")
    assert find_worktree_at(bench.main.parent / "elsewhere") is None


async def test_each_file_is_merged_alone_with_its_own_choice_and_undone_alone(bench: WorktreeBench) -> None:
    folder = await bench.open()
    (bench.main / "sub").mkdir()
    (folder / "sub").mkdir()
    for place, text in ((folder, "theirs"), (bench.main, "ours")):
        change_line(place / "a.txt", 2, text)
        (place / "gone.txt").write_text(f"{text}\n")
        (place / "sub/b.txt").write_text(f"{text}\n")
    (folder / "new.txt").write_text("new\n")
    worktrees, context = bench.worktrees, bench.context()
    with pytest.raises(HaloclineError, match="nothing to merge at sub/nothing"):
        await worktrees.merge("x", context, only=["sub/nothing"])
    left = await worktrees.merge("x", context, only=["sub"])
    assert [one.path for one in left.merged.conflicts] == ["sub/b.txt"]
    theirs = await worktrees.merge("x", context, Choice.THEIRS, only=["./sub/b.txt"])
    ours = await worktrees.merge("x", context, Choice.OURS, only=["a.txt"])
    assert (theirs.merged.changed, ours.merged.changed, ours.merged.stays) == (("sub/b.txt",), (), ("a.txt",))
    assert (await worktrees.work("x")).unmerged == ("gone.txt", "new.txt")
    assert not (bench.main / "new.txt").exists()
    await worktrees.undo("x")
    assert (await worktrees.work("x")).unmerged == ("a.txt", "gone.txt", "new.txt")
    await worktrees.undo("x")
    assert (bench.main / "sub/b.txt").read_text() == "ours\n"


async def test_a_file_that_has_the_change_already_counts_as_merged_once_it_was_looked_at(bench: WorktreeBench) -> None:
    folder = await bench.open()
    for place in (folder, bench.main):
        change_line(place / "a.txt", 2, "the same")
    change_line(bench.main / "a.txt", 15, "of the person")
    assert (await bench.worktrees.work("x")).unmerged == ("a.txt",)
    done = await bench.worktrees.merge("x", bench.context())
    assert (done.is_whole, done.merged.changed, done.merged.stays) == (True, (), ("a.txt",))
    assert (await bench.worktrees.work("x")).is_merged


async def test_an_undo_leaves_and_names_no_file_that_the_merge_did_not_touch(bench: WorktreeBench) -> None:
    folder = await bench.open()
    for name in ("mine.txt", "later.txt"):
        (bench.main / name).write_text("before\n")
    (folder / "new.txt").write_text("new\n")
    change_line(folder / "a.txt", 2, "theirs")
    await bench.worktrees.merge("x", bench.context())
    bench.commit()
    (bench.main / "mine.txt").write_text("since\n")
    (bench.main / "later.txt").unlink()
    (bench.main / "made.txt").write_text("since\n")
    change_line(bench.main / "a.txt", 2, "edited since")
    undone = await bench.worktrees.undo("x")
    assert (undone.changed, undone.conflicts) == (("new.txt",), ("a.txt",))
    assert (undone.yours, undone.others, undone.doubtful, undone.kept, undone.left_out) == ((), (), (), (), ())
    assert (bench.main / "made.txt").exists()
