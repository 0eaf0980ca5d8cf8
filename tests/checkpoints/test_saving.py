import os
import shutil
from pathlib import Path

import pytest
from tests.checkpoints.bench import LONG_AGO, Bench, contents, counted_git, git, seen

from halocline.checkpoints.saved import Limits
from halocline.checkpoints.selection.sizes import SMALL


def project(bench: Bench) -> None:
    """A git repository with a commit, a staged file and a hook that would leave a trace."""
    git(bench.workspace, "init", "-q")
    bench.write("a.txt", "one\n")
    git(bench.workspace, "add", "a.txt")
    git(bench.workspace, "commit", "-qm", "first")
    bench.write("staged.txt", "staged\n")
    git(bench.workspace, "add", "staged.txt")
    for name in ("post-index-change", "pre-commit", "reference-transaction"):
        hook = bench.write(f".git/hooks/{name}", "#!/bin/sh\ntouch hook-ran\n")
        hook.chmod(0o755)


async def test_the_projects_own_git_is_the_same_byte_for_byte_after_saving_and_restoring(bench: Bench) -> None:
    project(bench)
    before = contents(bench.workspace / ".git")
    shadow = await bench.begun()
    bench.write("a.txt", "two\n")
    bench.write("b/new.txt", "new\n")
    shadow.take("edit", ["a.txt"])
    shadow.take("command")
    await shadow.settle()
    await shadow.diff("1")
    await shadow.restore("1")
    assert contents(bench.workspace / ".git") == before
    assert not (bench.workspace / "hook-ran").exists()


async def test_it_works_where_there_is_no_git_repository(bench: Bench) -> None:
    bench.write("src/a.py", "a")
    await bench.begun()
    assert bench.saved(1) == {"src/a.py"}
    assert bench.taken == ["Start"]
    assert not (bench.workspace / ".git").exists()


async def test_an_empty_workspace_has_a_checkpoint_too(bench: Bench) -> None:
    shadow = await bench.begun()
    bench.write("made.txt", "made")
    await seen(shadow)
    await shadow.restore("1")
    assert contents(bench.workspace) == {}


@pytest.mark.parametrize(
    "path",
    [".env", "config/.env.production", "server.key", "id_ed25519", "cert.pem", "node_modules/x/index.js",
     ".venv/bin/python", "src/__pycache__/a.pyc", "a/target/debug/b", ".next/x.js"],
)  # fmt: skip
async def test_secrets_and_what_tools_make_again_stay_out(bench: Bench, path: str) -> None:
    bench.write(path, "content")
    bench.write("kept.txt", "kept")
    await bench.begun()
    assert bench.saved(1) == {"kept.txt"}


@pytest.mark.parametrize(
    "path",
    ["a.log", "logo.png", "data.bin", "notes.db", "data.sqlite3", "dist/app.js", "build/keep.txt", "target/x.txt",
     "backup.tar.gz", "t.zip", "m.WAV", "model.onnx", "out/a.so"],
)  # fmt: skip
async def test_a_small_file_is_saved_whatever_it_is_called_and_comes_back(bench: Bench, path: str) -> None:
    bench.write(path, "content")
    shadow = await bench.begun()
    (bench.workspace / path).unlink()
    shadow.take("rm")
    await shadow.settle()
    assert (await shadow.restore("1")).changed == (path,)
    assert (bench.workspace / path).read_text() == "content"


async def test_a_large_picture_is_saved_only_if_git_tracks_it(bench: Bench) -> None:
    git(bench.workspace, "init", "-q")
    bench.write("tracked.png", "x" * (SMALL + 1))
    bench.write("small.png", "x" * SMALL)
    git(bench.workspace, "add", "tracked.png")
    bench.write("large.png", "x" * (SMALL + 1))
    await bench.begun()
    assert bench.saved(1) == {"tracked.png", "small.png"}
    assert "large.png" in bench.notices[0]


@pytest.mark.parametrize("is_borrowed", [True, False])
async def test_what_git_tracks_is_saved_although_a_rule_leaves_it_out(bench: Bench, is_borrowed: bool) -> None:
    git(bench.workspace, "init", "-q")
    bench.write(".gitignore", "*.local\n/private\n")
    for path in ("a.local", "private/b", "node_modules/m/c.js", ".env"):
        bench.write(path, "tracked")
    if not is_borrowed:
        await (await bench.begun()).close()
    git(bench.workspace, "add", "-f", ".")
    bench.write("other.local", "not tracked")
    shadow = await bench.begun()
    number = 1 if is_borrowed else 2
    assert bench.saved(number) == {".gitignore", "a.local", "private/b", "node_modules/m/c.js"}
    shutil.rmtree(bench.workspace / "private")
    shadow.take("rm -rf private")
    await shadow.settle()
    await shadow.restore(str(number))
    assert (bench.workspace / "private" / "b").read_text() == "tracked"
    assert "private/b" in bench.saved(number + 2)


async def test_a_named_file_that_is_ignored_stays_out_and_the_others_go_in(bench: Bench) -> None:
    shadow = await bench.begun()
    bench.write(".env", "SECRET=1")
    bench.write("a.txt", "a")
    shadow.take("edit", [".env", "a.txt"])
    await shadow.settle()
    assert bench.saved(2) == {"a.txt"}


async def test_the_projects_gitignore_applies(bench: Bench) -> None:
    bench.write(".gitignore", "private/\n")
    bench.write("private/diary.txt", "dear")
    bench.write(".env.example", "KEY=")
    await bench.begun()
    assert bench.saved(1) == {".gitignore", ".env.example"}


async def test_variables_and_settings_of_the_users_git_have_no_effect(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.home.mkdir()
    (bench.home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/ignore\n\tautocrlf = input\n")
    (bench.home / "ignore").write_text("*.txt\n")
    monkeypatch.setenv("HOME", str(bench.home))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    bench.write("a.txt", "a\r\n")
    shadow = await bench.begun()
    bench.write("a.txt", "b\r\n")
    await seen(shadow)
    await shadow.restore("1")
    assert (bench.workspace / "a.txt").read_bytes() == b"a\r\n"


async def test_attributes_neither_run_filters_nor_change_bytes(bench: Bench) -> None:
    rules = "* text=auto eol=crlf ident\n*.bin2 filter=lfs\n*.utf16 working-tree-encoding=UTF-16\n"
    bench.write(".gitattributes", rules)
    originals = {
        "a.txt": b"a\nb\r\n$Id$\n",
        "b.bin2": b"\0\r\n",
        "c.utf16": "hej\r\n".encode("utf-16"),
        "d.md": b"d\r\n",
    }
    for name, data in originals.items():
        bench.write(name, data)
    shadow = await bench.begun()
    for name in originals:
        bench.write(name, "spoiled")
    await seen(shadow)
    await shadow.restore("1")
    assert {name: (bench.workspace / name).read_bytes() for name in originals} == originals


ODD_NAMES = [
    "with space.txt", "-rf", "--all", "new\nline", "tab\there", "å/ü✓.txt", "quote\"'.txt", "[ab]*?.txt", ":(top)x",
    ":!x", "back\\slash", "#comment", "!not", " lead", "trail ", "a\x01b",
]  # fmt: skip


async def test_odd_names_are_saved_whole_and_by_name(bench: Bench) -> None:
    for name in ODD_NAMES:
        bench.write(name, "first")
    shadow = await bench.begun()
    assert bench.saved(1) == set(ODD_NAMES)
    for name in ODD_NAMES:
        bench.write(name, "second")
    shadow.take("edit", ODD_NAMES)
    await shadow.settle()
    diff = await shadow.diff("1", "2")
    assert diff.count("+second") == len(ODD_NAMES)


async def test_a_name_that_is_not_utf8_is_saved_and_restored(bench: Bench) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    bench.write(name, "first")
    shadow = await bench.begun()
    (bench.workspace / name).unlink()
    await seen(shadow)
    restored = await shadow.restore("1")
    assert (bench.workspace / name).read_text() == "first"
    assert restored.changed == ("caf\ufffd.txt",)


@pytest.mark.parametrize("is_named", [True, False])
async def test_deleted_and_renamed_files_leave_the_checkpoint(bench: Bench, is_named: bool) -> None:
    bench.write("gone.txt", "gone")
    bench.write("old.txt", "moved")
    shadow = await bench.begun()
    (bench.workspace / "gone.txt").unlink()
    (bench.workspace / "old.txt").rename(bench.workspace / "new.txt")
    shadow.take("move", ["gone.txt", "old.txt", "new.txt"] if is_named else None)
    await shadow.settle()
    assert bench.saved(2) == {"new.txt"}


async def test_a_named_file_that_came_and_went_does_no_harm(bench: Bench) -> None:
    shadow = await bench.begun()
    bench.write("stays.txt", "stays")
    shadow.take("edit", ["never-there.txt", "stays.txt"])
    await shadow.settle()
    assert bench.saved(2) == {"stays.txt"}
    assert bench.notices == []


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/", "~/x", "a\0b", "\ud800", "x" * 5000, ".git/config", "file/below", "dir"]
)
async def test_a_name_that_is_no_file_does_no_harm(bench: Bench, name: str) -> None:
    bench.write("file", "f")
    bench.write("dir/a.txt", "one")
    shadow = await bench.begun()
    bench.write("dir/a.txt", "two")
    shadow.take("edit", [name, "dir/a.txt"])
    await shadow.settle()
    assert bench.taken == ["Start", "edit"]
    assert bench.saved(2) == {"file", "dir/a.txt"}
    assert bench.notices == []


async def test_only_named_files_are_read(bench: Bench) -> None:
    shadow = await bench.begun()
    bench.write("named.txt", "n")
    bench.write("other.txt", "o")
    shadow.take("edit", [str(bench.workspace / "named.txt")])
    await shadow.settle()
    assert bench.saved(2) == {"named.txt"}


async def test_a_file_outside_the_workspace_is_not_saved(bench: Bench, tmp_path: Path) -> None:
    shadow = await bench.begun()
    (tmp_path / "outside.txt").write_text("outside")
    bench.write("inside.txt", "inside")
    shadow.take("edit", [str(tmp_path / "outside.txt"), "../outside.txt", "inside.txt"])
    await shadow.settle()
    assert bench.saved(2) == {"inside.txt"}


async def test_an_edit_through_a_link_saves_the_file_it_leads_to(bench: Bench) -> None:
    bench.write("real/a.txt", "one")
    (bench.workspace / "link").symlink_to("real")
    (bench.workspace / "alias.txt").symlink_to("real/a.txt")
    shadow = await bench.begun()
    bench.write("real/a.txt", "two")
    shadow.take("through a folder", ["real/a.txt"])
    await shadow.settle()
    bench.write("real/a.txt", "three")
    shadow.take("through a file", ["alias.txt", "real/a.txt"])
    await shadow.settle()
    assert "+two" in await shadow.diff("1", "2")
    assert "+three" in await shadow.diff("2", "3")


async def test_nothing_changed_means_no_new_checkpoint(bench: Bench) -> None:
    bench.write("a.txt", "a")
    shadow = await bench.begun()
    shadow.take("nothing", ["a.txt"])
    shadow.take("nothing")
    await shadow.settle()
    assert bench.taken == ["Start"]
    assert len(await shadow.list("t1")) == 1


async def test_files_over_the_limit_stay_out_and_are_told_of_once(bench: Bench) -> None:
    bench.write("huge.txt", "x" * 2000)
    bench.write("small.txt", "x")
    shadow = await bench.begun(limits=Limits(largest=1000))
    bench.write("huge2.txt", "x" * 2000)
    bench.write("small.txt", "y")
    shadow.take("edit", ["huge2.txt", "small.txt"])
    await shadow.settle()
    assert bench.saved(1) == bench.saved(2) == {"small.txt"}
    assert len(bench.notices) == 1
    assert "huge.txt" in bench.notices[0]


async def test_a_special_file_does_not_block(bench: Bench) -> None:
    os.mkfifo(bench.workspace / "pipe")
    bench.write("a.txt", "a")
    await bench.begun()
    assert bench.saved(1) == {"a.txt"}


async def test_a_store_inside_the_workspace_does_not_save_itself(bench: Bench) -> None:
    bench.store = bench.workspace / "my [data]" / "checkpoints"
    bench.write("a.txt", "a")
    shadow = await bench.begun()
    shadow.take("nothing")
    await shadow.settle()
    assert bench.saved(1) == {"a.txt"}
    assert bench.taken == ["Start"]


async def test_the_store_is_for_its_owner_only(bench: Bench) -> None:
    bench.write("a.txt", "a")
    await bench.begun()
    assert bench.store.stat().st_mode & 0o777 == 0o700
    assert bench.repository.stat().st_mode & 0o777 == 0o700


async def test_a_store_holds_together_in_the_eyes_of_git(bench: Bench) -> None:
    for n in range(120):
        bench.write(f"d{n % 7}/f{n}.txt", f"{n}\n" * 50)
    shadow = await bench.begun()
    bench.write("d1/f1.txt", "changed")
    shadow.take("edit", ["d1/f1.txt"])
    await shadow.settle()
    assert git(bench.workspace, f"--git-dir={bench.repository}", "fsck", "--strict", "--no-dangling") == ""
    assert len(bench.saved(2)) == 120


async def test_tasks_have_their_own_checkpoints_in_one_store(bench: Bench) -> None:
    bench.write("a.txt", "one")
    first = await bench.begun("t1")
    bench.write("a.txt", "two")
    second = await bench.begun("t2")
    assert [(info.task, info.n, info.label) for info in await first.list()] == [("t1", 1, "Start"), ("t2", 1, "Start")]
    assert [info.task for info in await second.list("t2")] == ["t2"]
    assert "+two" in await second.diff("t1/1", "t2/1")


async def test_checkpoints_are_listed_in_the_order_of_their_numbers(bench: Bench) -> None:
    shadow = await bench.begun()
    for n in range(2, 12):
        bench.write("a.txt", str(n))
        shadow.take(f"edit {n}", ["a.txt"])
        await shadow.settle()
    assert [info.n for info in await shadow.list("t1")] == list(range(1, 12))
    assert (await shadow.list("t1"))[10].label == "edit 11"


async def test_a_diff_with_the_files_of_now_shows_untracked_and_deleted_ones(bench: Bench) -> None:
    bench.write("gone.txt", "gone\n")
    shadow = await bench.begun()
    (bench.workspace / "gone.txt").unlink()
    bench.write("new.txt", "new\n")
    diff = await shadow.diff("1")
    assert "deleted file" in diff
    assert "+new" in diff


async def test_no_more_git_is_started_than_it_takes(bench: Bench, tmp_path: Path) -> None:
    program, asked = counted_git(tmp_path)
    bench.write("a.txt", "one")
    shadow = await bench.begun(program=str(program))
    assert asked.read_text().split() == ["ls-files", "write-tree", "ls-files"]
    bench.write("a.txt", "two")
    steps: list[tuple[str, list[str] | None, list[str]]] = [
        ("edit", ["a.txt"], []),
        ("a look", None, ["ls-files", "update-index"]),
        ("much", None, ["ls-files", "update-index", "update-index", "write-tree", "ls-files"]),
        ("another", None, ["ls-files"]),
    ]
    for label, paths, needed in steps:
        if label == "much":
            for number in range(49):
                bench.write(f"many/{number}.txt", "new")
        asked.write_text("")
        shadow.take(label, paths)
        await shadow.settle()
        assert asked.read_text().split() == needed
    assert bench.taken == ["Start", "edit", "much"]


async def test_a_file_that_looks_changed_and_is_not_is_read_once(bench: Bench) -> None:
    bench.write("a.txt", "one")
    await bench.begun("t1")
    os.utime(bench.write("a.txt", "one"), (LONG_AGO, LONG_AGO))
    shadow = await bench.begun("t2")
    shadow.take("a look")
    await shadow.settle()
    in_store = (f"--git-dir={bench.repository}", f"--work-tree={bench.workspace}")
    assert git(bench.workspace, *in_store, "diff-files", "--name-only") == ""


async def test_what_another_task_saved_meanwhile_is_in_the_next_checkpoint(bench: Bench) -> None:
    bench.write("a.txt", "one")
    first = await bench.begun("t1")
    bench.write("a.txt", "two")
    await bench.begun("t2")
    first.take("a look")
    await first.settle()
    assert bench.taken == ["Start", "Start", "a look"]
    assert await first.diff("t1/2", "t2/1") == ""


async def test_a_pipe_that_git_would_wait_for_is_named_at_each_change_until_it_is_gone(bench: Bench) -> None:
    os.mkfifo(bench.workspace / ".gitignore")
    shadow = await bench.begun()
    for name in ("a", "b"):
        bench.write(name, "text")
        shadow.take(name)
        await shadow.settle()
    said = f"{bench.workspace}/.gitignore is a named pipe, not a regular file; move it away or delete it"
    assert [said in notice for notice in bench.notices] == [True, True, True]
    (bench.workspace / ".gitignore").unlink()
    bench.write("c", "text")
    shadow.take("c")
    await shadow.settle()
    assert len(bench.events) == 4
