"""Worktrees and main folders that are not as usual: each has one clear behaviour."""

import os
import shutil
from pathlib import Path

import pytest
from tests.runtime.worktree_bench import LINES, WorktreeBench, change_line, make_bench

from halocline.git.worktrees import open_worktree, remove_worktree
from halocline.protocol.errors import HaloclineError
from halocline.runtime.history.worktrees import Worktrees

pytestmark = pytest.mark.process


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorktreeBench:
    return make_bench(tmp_path, monkeypatch)


@pytest.mark.parametrize("name", ["a/b", "..", "a..b", "-x", "x.lock", "x.", "a b", "ä", ""])
async def test_a_name_that_no_branch_can_have_is_refused(bench: WorktreeBench, name: str) -> None:
    with pytest.raises(HaloclineError, match="is not a name for a worktree"):
        await open_worktree(bench.main, name)


async def test_a_repository_without_a_commit_has_no_worktrees(bench: WorktreeBench, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    bench.git("init", "--quiet", folder=empty)
    with pytest.raises(HaloclineError, match="has no commit yet"):
        await open_worktree(empty, "x")


async def test_a_branch_that_is_checked_out_elsewhere_is_named(bench: WorktreeBench, tmp_path: Path) -> None:
    bench.git("worktree", "add", "--quiet", "-b", "worktree-x", str(tmp_path / "elsewhere"))
    with pytest.raises(HaloclineError, match="already"):
        await bench.open()
    (work,) = await bench.worktrees.list()  # it has our branch, so it is one of ours where it is
    assert work.worktree.folder == tmp_path / "elsewhere"


async def test_a_locked_worktree_is_not_discarded(bench: WorktreeBench) -> None:
    folder = await bench.open()
    bench.git("worktree", "lock", "--reason", "on a stick", str(folder))
    with pytest.raises(HaloclineError, match="locked \\(on a stick\\)"):
        await bench.worktrees.discard("x", force=True)
    assert folder.exists()


async def test_a_moved_worktree_is_named_and_a_missing_one_can_be_discarded(bench: WorktreeBench) -> None:
    folder = await bench.open()
    folder.rename(folder.with_name("moved"))
    (work,) = await bench.worktrees.list()
    assert "is not at" in work.problem
    with pytest.raises(HaloclineError) as found:
        await bench.worktrees.merge("x", bench.context())
    assert "git worktree repair" in found.value.hint
    bench.git("worktree", "repair", str(folder.with_name("moved")))
    assert (await bench.worktrees.work("x")).worktree.folder == folder.with_name("moved")
    shutil.rmtree(folder.with_name("moved"))
    await bench.worktrees.discard("x")
    assert await bench.worktrees.list() == ()


async def test_commits_on_no_branch_get_one_when_the_worktree_is_discarded(bench: WorktreeBench) -> None:
    folder = await bench.open()
    bench.git("checkout", "--quiet", "--detach", folder=folder)
    change_line(folder / "a.txt", 2, "detached")
    bench.commit(folder)
    bench.git("branch", "--quiet", "-D", "worktree-x")
    (work,) = await bench.worktrees.list()
    assert work.worktree.branch == ""
    gone = await bench.worktrees.discard("x", force=True)
    assert (gone.commits, gone.branch) == (1, "worktree-x")
    assert "detached" in bench.git("show", "worktree-x:a.txt")


async def test_a_branch_stays_when_its_commits_cannot_be_counted(bench: WorktreeBench) -> None:
    folder = await bench.open()
    for _ in range(2):
        bench.commit(folder)
    lost = bench.git("rev-parse", "worktree-x~1").strip()
    (bench.main / ".git/objects" / lost[:2] / lost[2:]).unlink()
    left = await remove_worktree(await bench.worktrees.find("x"))
    assert (left.commits, folder.exists()) == (None, False)
    assert bench.git("rev-parse", "worktree-x").strip() == left.tip


async def test_a_main_folder_with_new_commits_on_another_branch_is_merged_three_ways(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    bench.git("checkout", "--quiet", "-b", "other")
    change_line(bench.main / "a.txt", 18, "committed here")
    bench.commit()
    work = await bench.worktrees.work("x")
    assert (work.ahead, work.behind) == (0, 1)
    done = await bench.worktrees.merge("x", bench.context())
    assert done.is_whole
    assert (bench.main / "a.txt").read_text() == LINES.replace("line 2\n", "theirs\n").replace(
        "line 18", "committed here"
    )


async def test_a_worktree_that_took_over_the_main_branch_starts_from_there(bench: WorktreeBench) -> None:
    folder = await bench.open()
    change_line(folder / "a.txt", 2, "theirs")
    await bench.worktrees.merge("x", bench.context())
    bench.commit(folder)
    bench.commit()
    bench.git("merge", "--quiet", "-m", "M", "main", folder=folder)
    change_line(bench.main / "a.txt", 2, "later here")
    change_line(folder / "a.txt", 18, "later there")
    assert (await bench.worktrees.merge("x", bench.context())).is_whole
    assert "later here" in (bench.main / "a.txt").read_text()
    assert "later there" in (bench.main / "a.txt").read_text()


async def test_a_filled_submodule_and_a_nested_repository_are_named_and_not_left_out_silently(
    bench: WorktreeBench, tmp_path: Path
) -> None:
    part = tmp_path / "part"
    part.mkdir()
    bench.git("init", "--quiet", folder=part)
    (part / "p.txt").write_text("p\n")
    bench.commit(part)
    bench.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "sub")
    bench.commit()
    folder = await bench.open()
    assert (await bench.worktrees.work("x")).apart == ()
    bench.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", folder=folder)
    (folder / "sub/p.txt").write_text("changed\n")
    nested = folder / "nested"
    nested.mkdir()
    bench.git("init", "--quiet", folder=nested)
    bench.commit(nested)
    assert (await bench.worktrees.work("x")).apart == ("nested", "sub")
    done = await bench.worktrees.merge("x", bench.context())
    assert done.apart == ("nested", "sub")
    with pytest.raises(HaloclineError, match="nested, sub"):
        await bench.worktrees.discard("x")
    await bench.worktrees.discard("x", force=True)
    assert not folder.exists()


async def test_a_worktree_opened_from_a_subfolder_is_merged_as_a_whole(bench: WorktreeBench) -> None:
    (bench.main / "sub").mkdir()
    (bench.main / "sub/b.txt").write_text("b\n")
    bench.commit()
    opened = await open_worktree(bench.main / "sub", "x")
    assert opened.folder.name == "sub"
    (opened.folder / "b.txt").write_text("changed\n")
    change_line(opened.folder.parent / "a.txt", 2, "theirs")
    below = Worktrees(bench.main / "sub", bench.home / "checkpoints")
    assert (await below.merge("x", bench.context())).merged.changed == ("a.txt", "sub/b.txt")


async def test_a_worktree_of_a_bare_repository_has_the_folder_it_was_made_from_as_its_main_folder(
    bench: WorktreeBench, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    bench.git("clone", "--quiet", "--bare", str(bench.main), str(bare))
    bench.git("worktree", "add", "--quiet", str(tmp_path / "work"), "main", folder=bare)
    place = WorktreeBench(tmp_path / "work", bench.home)
    folder = await place.open()
    change_line(folder / "a.txt", 2, "theirs")
    inside = WorktreeBench(folder, bench.home)
    assert (await inside.worktrees.merge("x", place.context())).is_whole
    assert "theirs" in (tmp_path / "work/a.txt").read_text()
    with pytest.raises(HaloclineError):
        await open_worktree(bare, "y")


async def test_a_worktree_whose_git_file_leads_elsewhere_is_not_read(bench: WorktreeBench, tmp_path: Path) -> None:
    folder = await bench.open()
    other = tmp_path / "other"
    other.mkdir()
    bench.git("init", "--quiet", folder=other)
    (folder / ".git").write_text(f"gitdir: {other / '.git'}\n")
    (work,) = await bench.worktrees.list()
    assert work.worktree.is_missing


async def test_line_ends_that_git_converts_do_not_make_every_line_differ(bench: WorktreeBench) -> None:
    (bench.main / ".gitattributes").write_text("*.txt text eol=crlf\n")
    bench.commit()
    (bench.main / "a.txt").unlink()
    bench.git("checkout", "--quiet", "--", "a.txt")
    folder = await bench.open()
    assert b"\r\n" in (folder / "a.txt").read_bytes()
    assert (await bench.worktrees.work("x")).is_merged
    for place, n in ((folder, 2), (bench.main, 18)):
        data = (place / "a.txt").read_bytes()
        (place / "a.txt").write_bytes(data.replace(b"line %d\r" % n, b"changed %d\r" % n))
    done = await bench.worktrees.merge("x", bench.context())
    assert done.merged.merges == ("a.txt",)
    assert (bench.main / "a.txt").read_bytes().count(b"changed") == 2


async def test_odd_names_and_binary_files_are_merged(bench: WorktreeBench) -> None:
    folder = await bench.open()
    for name in (b"new\nline", b"\xff\xfe", b"tab\there", b" blank ", b"-dash", b"qu\"ote'"):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(b"\0\1" + name)
    bench.commit(folder)
    (folder / "new\nline").write_bytes(b"\0\2")
    done = await bench.worktrees.merge("x", bench.context())
    assert len(done.merged.changed) == 6
    assert (bench.main / "new\nline").read_bytes() == b"\0\2"
    assert (await bench.worktrees.work("x")).is_merged


async def test_a_file_that_is_too_large_is_named_and_keeps_the_worktree(bench: WorktreeBench) -> None:
    folder = await bench.open()
    (folder / "large.txt").write_bytes(b"x" * 5_000_001)
    done = await bench.worktrees.merge("x", bench.context())
    assert [one.path for one in done.refused] == ["large.txt"]
    with pytest.raises(HaloclineError, match="large"):
        await bench.worktrees.discard("x")


async def test_ignored_files_that_the_list_names_are_copied_and_links_are_not_followed(
    bench: WorktreeBench, tmp_path: Path
) -> None:
    (bench.main / ".worktreeinclude").write_text("# these\n*.local\n!not.local\nbuild/kept/\na.txt\nplain.txt\n")
    (bench.main / "build/kept").mkdir(parents=True)
    for name in ("one.local", "not.local", "build/kept/x", "build/y", "plain.txt"):
        (bench.main / name).write_text(name)
    (bench.main / "one.local").chmod(0o600)
    (tmp_path / "secret").write_text("s")
    (bench.main / "link.local").symlink_to(tmp_path / "secret")
    opened = await open_worktree(bench.main, "x")
    found = {str(path.relative_to(opened.folder)) for path in opened.folder.rglob("*") if path.is_file()}
    assert found == {".git", ".gitignore", "a.txt", "gone.txt", "run.sh", "one.local", "build/kept/x"}
    assert (opened.folder / "one.local").stat().st_mode & 0o777 == 0o600
    assert (opened.copied, opened.failed) == (2, ("link.local",))


async def test_a_worktree_whose_folder_was_removed_by_hand_is_not_opened_and_says_how_to_go_on(
    bench: WorktreeBench,
) -> None:
    shutil.rmtree(await bench.open())
    with pytest.raises(HaloclineError, match="is not at") as found:
        await bench.open()
    assert "halo worktrees discard x" in found.value.hint
    (work,) = await bench.worktrees.list()
    assert "halo worktrees discard x" in work.problem
    await bench.worktrees.discard("x")
    assert (await bench.open()).exists()


@pytest.mark.parametrize("has_commits", [False, True])
async def test_a_branch_without_commits_of_its_own_starts_where_a_new_one_does(
    bench: WorktreeBench, has_commits: bool
) -> None:
    folder = await bench.open()
    if has_commits:
        bench.commit(folder)
    bench.git("worktree", "remove", str(folder))
    (bench.main / "later.txt").write_text("later\n")
    bench.commit()
    again = await bench.open()
    assert (again / "later.txt").exists() is not has_commits
    assert bench.git("branch", "--show-current", folder=again).strip() == "worktree-x"


async def test_what_a_killed_write_left_beside_a_file_is_no_work(bench: WorktreeBench) -> None:
    folder = await bench.open()
    for name in (".halo-0a1b2c3d4e5f.tmp", ".halo-0a1b2c3d4e5f.old", ".halo-notes"):
        (folder / name).write_text("half")
    assert (await bench.worktrees.work("x")).left == (".halo-notes",)


async def test_a_discard_that_is_refused_names_what_no_merge_takes(bench: WorktreeBench) -> None:
    folder = await bench.open()
    (folder / "large.bin").write_bytes(bytes(6_000_000))
    with pytest.raises(HaloclineError) as refused:
        await bench.worktrees.discard("x")
    assert ("No merge takes large.bin" in refused.value.hint, "Merge it" in refused.value.hint) == (True, False)
