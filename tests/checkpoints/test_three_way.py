import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, contents, git, seen

from halocline.checkpoints.recovery.file_changes import NotRestored
from halocline.checkpoints.restore.remainder import MOST_NEW
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.checkpoints.store.layout import JOURNAL
from halocline.protocol.left_out import LeftOut

LINES = "".join(f"{number}\n" for number in range(1, 21))


async def edited(bench: Bench, **files: str) -> ShadowGit:
    """A task that found `LINES` in each file, and left what is given."""
    for name in files:
        bench.write(name, LINES)
    shadow = await bench.begun()
    for name, text in files.items():
        bench.write(name, text)
    await seen(shadow)
    return shadow


def read(bench: Bench, name: str) -> str:
    return (bench.workspace / name).read_text()


async def test_what_a_person_changed_since_stays_and_what_the_task_changed_goes_back(bench: Bench) -> None:
    bench.write("mine.txt", "old")
    shadow = await edited(bench, a="task\n")
    bench.write("mine.txt", "new")
    plan = await shadow.plan("1")
    assert (plan.overwrites, plan.yours, plan.changes) == (("a",), ("mine.txt",), 1)
    restored = await shadow.restore("1")
    assert (restored.changed, restored.yours) == (("a",), ("mine.txt",))
    assert (read(bench, "a"), read(bench, "mine.txt")) == (LINES, "new")


async def test_a_person_who_wants_it_gets_exactly_the_checkpoint(bench: Bench) -> None:
    bench.write("mine.txt", "old")
    shadow = await edited(bench, a="task\n")
    bench.write("mine.txt", "new")
    restored = await shadow.restore("1", overwrite=True)
    assert read(bench, "mine.txt") == "old"
    await shadow.restore(restored.undo)
    assert (read(bench, "a"), read(bench, "mine.txt")) == ("task\n", "new")


async def test_changes_of_both_in_one_file_are_brought_together(bench: Bench) -> None:
    shadow = await edited(bench, a=LINES.replace("20\n", "by the task\n"))
    bench.write("a", read(bench, "a").replace("1\n2\n", "mine\n2\n", 1))
    assert (await shadow.plan("1")).merges == ("a",)
    restored = await shadow.restore("1")
    assert read(bench, "a") == LINES.replace("1\n2\n", "mine\n2\n", 1)
    assert (restored.changed, restored.merges) == (("a",), ("a",))
    await shadow.restore(restored.undo)
    assert "mine" in read(bench, "a")
    assert "by the task" in read(bench, "a")


@pytest.mark.parametrize("encoding", ["cp1251", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
async def test_changes_of_both_are_brought_together_in_every_encoding(bench: Bench, encoding: str) -> None:
    place = bench.workspace / "a"

    def write(text: str) -> bytes:
        place.write_bytes(text.encode(encoding))
        return place.read_bytes()

    before = LINES.replace("10\n", "Привет\n")
    write(before)
    shadow = await bench.begun()
    write(before.replace("20\n", "by the task\n"))
    await seen(shadow)
    write(before.replace("20\n", "by the task\n").replace("1\n2\n", "моё\n2\n", 1))
    restored = await shadow.restore("1")
    found = place.read_bytes()
    assert found == write(before.replace("1\n2\n", "моё\n2\n", 1))
    assert restored.merges == ("a",)


async def test_binary_files_are_not_brought_together(bench: Bench) -> None:
    place, lines = bench.workspace / "a", b"\0\x01\n".join(b"%d" % number for number in range(200))
    place.write_bytes(lines)
    shadow = await bench.begun()
    place.write_bytes(lines.replace(b"199", b"task"))
    await seen(shadow)
    place.write_bytes(lines.replace(b"199", b"task").replace(b"3", b"mine", 1))
    assert (await shadow.restore("1")).merges == ()


@pytest.mark.parametrize("mine", ["mine, too\n", "\0\1"])
async def test_what_cannot_be_brought_together_stays_the_persons_unless_chosen(bench: Bench, mine: str) -> None:
    shadow = await edited(bench, a=LINES.replace("10\n", "by the task\n"))
    bench.write("a", LINES.replace("10\n", mine))
    plan = await shadow.plan("1")
    assert (plan.conflicts, plan.changes) == (("a",), 0)
    assert (await shadow.restore("1")).conflicts == ("a",)
    assert mine in read(bench, "a")
    await shadow.restore("1", overwrite=True)
    assert read(bench, "a") == LINES


@pytest.mark.parametrize("overwrite", [False, True])
async def test_a_file_that_a_person_made_is_never_deleted(bench: Bench, overwrite: bool) -> None:
    shadow = await edited(bench, a="task\n")
    bench.write("new.txt", "mine")
    restored = await shadow.restore("1", overwrite=overwrite)
    assert read(bench, "new.txt") == "mine"
    assert "new.txt" not in (*restored.changed, *restored.yours)
    assert [one.path for one in (await shadow.plan("1")).left_out] == ["new.txt"]
    why = "it is new since then, and nothing says that the task made it"
    assert restored.left_out == (LeftOut("new.txt", why, kept=True),)


async def test_very_many_files_that_a_person_made_are_named_by_their_folders(bench: Bench) -> None:
    shadow = await edited(bench, a="task\n")
    for number in range(MOST_NEW + 1):
        bench.write(f"made/{number}", "mine")
    (left,) = (await shadow.restore("1")).left_out
    assert (left.path, f"({MOST_NEW + 1})" in left.why) == ("made/", True)


@pytest.mark.parametrize("overwrite", [False, True])
async def test_of_a_file_that_a_later_start_of_the_task_found_only_the_tasks_change_goes_back(
    bench: Bench, overwrite: bool
) -> None:
    await edited(bench, a="task\n")
    bench.write("between.txt", "mine")
    shadow = await bench.begun()
    bench.write("between.txt", "mine, changed by the task")
    bench.write("later.txt", "made by the task")
    await seen(shadow)
    restored = await shadow.restore("1", overwrite=overwrite)
    assert sorted(restored.changed) == ["a", "between.txt", "later.txt"]
    assert set(contents(bench.workspace)) == {"a", "between.txt"}
    assert read(bench, "between.txt") == "mine"


@pytest.mark.parametrize("ignored", ["__pycache__/test_a.pyc", ".halo-12.tmp"])
async def test_a_file_that_the_task_made_in_a_folder_with_only_ignored_ones_goes_back(
    bench: Bench, ignored: str
) -> None:
    bench.write(f"tests/{ignored}", "left out")
    shadow = await bench.begun()
    bench.write("tests/test_a.py", "by the task")
    await seen(shadow)
    assert (await shadow.restore("1")).changed == ("tests/test_a.py",)


async def test_files_in_a_folder_that_the_checkpoint_left_out_are_named_by_it(bench: Bench) -> None:
    bench.write(".gitignore", "built/\n")
    bench.write("built/a", "before")
    shadow = await bench.begun()
    bench.write(".gitignore", "")
    bench.write("built/a", "by the task")
    await seen(shadow)
    restored = await shadow.restore("1")
    assert restored.changed == (".gitignore",)
    assert [one.path for one in restored.left_out] == ["built/"]


async def test_what_a_person_changed_before_the_task_went_on_stays(bench: Bench) -> None:
    bench.write("mine.txt", "old")
    await edited(bench, a="task\n")
    bench.write("mine.txt", "new")
    shadow = await bench.begun()
    bench.write("a", "task again\n")
    await seen(shadow)
    assert (await shadow.restore("1")).yours == ("mine.txt",)
    assert (read(bench, "a"), read(bench, "mine.txt")) == (LINES, "new")


async def test_a_file_of_the_task_that_a_person_went_on_with_is_not_deleted_unless_chosen(bench: Bench) -> None:
    bench.write("a", "a")
    shadow = await bench.begun()
    bench.write("made.txt", "by the task")
    await seen(shadow)
    bench.write("made.txt", "gone on with")
    assert (await shadow.restore("1")).conflicts == ("made.txt",)
    assert read(bench, "made.txt") == "gone on with"
    await shadow.restore("1", overwrite=True)
    assert set(contents(bench.workspace)) == {"a"}


async def test_a_file_that_a_person_deleted_stays_deleted(bench: Bench) -> None:
    bench.write("unwanted.txt", "old")
    shadow = await edited(bench, a="task\n")
    (bench.workspace / "unwanted.txt").unlink()
    assert (await shadow.restore("1")).yours == ("unwanted.txt",)
    assert set(contents(bench.workspace)) == {"a"}


async def test_going_back_twice_and_undoing_twice_ends_where_it_began(bench: Bench) -> None:
    shadow = await edited(bench, a="one\n")
    bench.write("a", "two\n")
    await seen(shadow)
    first = await shadow.restore("2")
    second = await shadow.restore("1")
    assert read(bench, "a") == LINES
    await shadow.restore(second.undo)
    assert read(bench, "a") == "one\n"
    await shadow.restore(first.undo)
    assert read(bench, "a") == "two\n"
    assert [info.label for info in await shadow.list("t1") if info.label.startswith("After")] == []


async def test_what_a_restore_left_is_not_taken_for_a_persons_when_the_task_goes_on(bench: Bench) -> None:
    shadow = await edited(bench, a="one\n")
    await shadow.restore("1")
    shadow = await bench.begun()
    await shadow.restore("2")
    assert read(bench, "a") == "one\n"


async def test_an_executable_bit_and_private_permissions_come_through(bench: Bench) -> None:
    shadow = await edited(bench, a="task\n")
    (bench.workspace / "a").chmod(0o700)
    await seen(shadow)
    await shadow.restore("1")
    assert (bench.workspace / "a").stat().st_mode & 0o777 == 0o600


async def test_names_that_differ_by_case_only_are_two_files(bench: Bench) -> None:
    shadow = await edited(bench, readme="one\n", README="two\n")
    await shadow.restore("1")
    assert read(bench, "readme") == read(bench, "README") == LINES


async def test_the_projects_own_git_is_not_touched(bench: Bench) -> None:
    git(bench.workspace, "init", "-q")
    bench.write("a", "committed")
    git(bench.workspace, "add", "a")
    git(bench.workspace, "commit", "-qm", "first")
    bench.write("inner/theirs.txt", "theirs")
    git(bench.workspace / "inner", "init", "-q")
    bench.write("staged", "staged")
    git(bench.workspace, "add", "staged")
    before = {name: kept for name, kept in contents(bench.workspace).items() if ".git/" in name}
    shadow = await edited(bench, b="task\n")
    bench.write("inner/theirs.txt", "changed")
    await shadow.restore("1", overwrite=True)
    after = contents(bench.workspace)
    assert {name: kept for name, kept in after.items() if ".git/" in name} == before
    assert read(bench, "inner/theirs.txt") == "theirs"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
async def test_a_folder_that_takes_no_changes_is_said_before_anything_is_done(bench: Bench) -> None:
    shadow = await edited(bench, **{"closed/a": "task\n", "b": "task\n"})
    (bench.workspace / "closed").chmod(0o500)
    plan = await shadow.plan("1")
    (bench.workspace / "closed").chmod(0o700)
    assert (plan.kept, plan.overwrites) == (("closed/a",), ("b",))


async def test_when_one_file_cannot_be_written_all_are_as_before(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("z/kept", "kept")
    shadow = await edited(bench, a="task\n", b="task\n")
    bench.write("c/made", "task")
    await seen(shadow)
    before = contents(bench.workspace)
    real = os.replace

    def refusing(source: str, target: str, **folders: int) -> None:
        if target == "b":
            raise OSError(28, "No space left on device", target)
        real(source, target, **folders)

    monkeypatch.setattr(os, "replace", refusing)
    with pytest.raises(NotRestored, match=rf"{bench.workspace}/b cannot be changed \(No space left"):
        await shadow.restore("1")
    monkeypatch.undo()
    assert contents(bench.workspace) == before
    assert not (bench.repository / JOURNAL).exists()
    await shadow.restore("1")
    assert (read(bench, "a"), read(bench, "b")) == (LINES, LINES)


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from halocline.checkpoints.shadow_git import ShadowGit
store, workspace, left = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
def counting(real):
    def call(*arguments, **named):
        global left
        if named:  # what lies in the workspace is changed by the descriptor of its folder
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    return call
os.replace, os.unlink, os.rmdir = counting(os.replace), counting(os.unlink), counting(os.rmdir)
asyncio.run(ShadowGit(store, workspace, "t1").restore("1"))
"""
"""Restores, and is killed before the change with that number in the workspace."""


async def killed(bench: Bench, number: int) -> int:
    words = [sys.executable, "-c", KILLED, str(bench.store), str(bench.workspace), str(number)]
    return (await asyncio.to_thread(subprocess.run, words, check=False)).returncode


@pytest.mark.parametrize("number", range(8))
async def test_a_restore_that_is_killed_leaves_all_files_as_before_it_or_as_after_it(bench: Bench, number: int) -> None:
    shadow = await edited(bench, a="task\n", b="task\n")
    bench.write("made/deep/c", "task")
    (bench.workspace / "link").symlink_to("a")
    await seen(shadow)
    before = contents(bench.workspace)
    code = await killed(bench, number)
    assert code in (0, -signal.SIGKILL)
    await bench.shadow().plan("1")
    after = {"a": ("file", LINES.encode()), "b": ("file", LINES.encode())}
    assert contents(bench.workspace) == (before if code else after)
    assert [path.name for path in Path(bench.workspace).rglob(".halo*")] == []


async def test_the_next_start_puts_back_what_a_killed_restore_did_and_says_so(bench: Bench) -> None:
    await edited(bench, a="task\n", b="task\n")
    await killed(bench, 1)
    assert sorted((read(bench, "a"), read(bench, "b"))) == [LINES, "task\n"]
    await bench.begun()
    assert (read(bench, "a"), read(bench, "b")) == ("task\n", "task\n")
    assert ["A restore was interrupted" in notice for notice in bench.notices] == [True]


async def test_what_somebody_changed_after_a_killed_restore_is_left_alone_and_named(bench: Bench) -> None:
    await edited(bench, a="task\n", b="task\n")
    await killed(bench, 1)
    bench.write("a", "mine\n")
    await bench.begun()
    assert (read(bench, "a"), read(bench, "b")) == ("mine\n", "task\n")
    assert ["except for files that changed since or are lost: a." in notice for notice in bench.notices] == [True]
