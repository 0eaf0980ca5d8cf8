"""Whose a change is: a restore takes back the task's own, and leaves what the person and other tasks made."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench

from halocline.checkpoints.changes.attribution import (
    NEAR,
    Attribution,
    Who,
    attribute_changes,
    format_message,
    is_disturbed_by_others,
    read_message,
)
from halocline.checkpoints.changes.claims import AFTER_DEATH, Claim, Claims, trim_file
from halocline.checkpoints.shadow_git import ShadowGit

ROOT = b"/project"


async def ran(shadow: ShadowGit, bench: Bench, **files: str) -> None:
    """Let the task run a command that writes these."""
    await shadow.barrier()
    for name, text in files.items():
        bench.write(name, text)
    shadow.take("command")
    await shadow.settle()


async def edited(shadow: ShadowGit, bench: Bench, name: str, text: str) -> None:
    """Let the task edit a file with a tool."""
    await shadow.barrier([name], ran=False)
    place = bench.workspace / name
    before = place.read_bytes() if place.exists() else None
    bench.write(name, text)
    shadow.wrote(name, None if before is None else lambda: before, text.encode)
    shadow.take("edit", [name])
    await shadow.settle()


def plain(bench: Bench, task: str = "t1") -> ShadowGit:
    return ShadowGit(bench.store, bench.workspace, task, delay=0, home=bench.home)


async def begun(bench: Bench, task: str = "t1") -> ShadowGit:
    shadow = plain(bench, task)
    shadow.begin(bench.events.append)
    await shadow.settle()
    return shadow


def names(bench: Bench) -> set[str]:
    return {path.name for path in bench.workspace.iterdir()}


async def test_what_a_person_made_between_two_commands_stays(bench: Bench) -> None:
    bench.write("mine", "old")
    shadow = await begun(bench)
    await edited(shadow, bench, "edited", "by the task")
    bench.write("made", "by the person")
    bench.write("mine", "new")
    await shadow.barrier()
    shadow.take("ls")
    await shadow.settle()
    restored = await shadow.restore("1")
    assert restored.changed == ("edited",)
    assert names(bench) == {"mine", "made"}
    assert (bench.workspace / "mine").read_text() == "new"


async def test_nobody_else_about_a_command_is_taken_back(bench: Bench) -> None:
    shadow = await begun(bench)
    await ran(shadow, bench, made="by the command")
    assert (await shadow.restore("1")).changed == ("made",)
    assert names(bench) == set()


async def test_where_a_person_was_at_work_too_a_command_is_not_taken_back_unless_chosen(bench: Bench) -> None:
    shadow = await begun(bench)
    await ran(shadow, bench, made="by the command or by the person")
    bench.write("mine", "by the person")
    plan = await shadow.plan("1")
    assert (plan.doubtful, plan.changes) == (("made",), 0)
    assert (await shadow.restore("1")).doubtful == ("made",)
    assert (await shadow.restore("1", overwrite=True)).changed == ("made",)
    assert names(bench) == {"mine"}


async def test_the_plan_marks_what_a_command_changed_also_where_the_command_names_the_file(bench: Bench) -> None:
    shadow = await begun(bench)
    await shadow.barrier(["named"])
    bench.write("named", "by a command that names it")
    shadow.take("printf > named", ["named"])
    await shadow.settle()
    await ran(shadow, bench, made="by the command, or by somebody who was not seen")
    await edited(shadow, bench, "edited", "by the task")
    plan = await shadow.plan("1")
    assert (plan.deletes, plan.assumed) == (("edited", "made", "named"), ("made", "named"))


async def test_while_another_task_is_at_work_in_the_folder_a_command_is_in_doubt(bench: Bench) -> None:
    await begun(bench, "t2")
    shadow = await begun(bench)
    await ran(shadow, bench, made="by the command, or by who watches the other task")
    plan = await shadow.plan("1")
    assert (plan.doubtful, plan.changes) == (("made",), 0)


async def test_a_task_whose_process_has_ended_is_nobody_at_work(bench: Bench) -> None:
    words = [sys.executable, "-c", DIES, bench.store, bench.workspace, "t2", "look"]
    subprocess.run(words, check=False)
    shadow = await begun(bench)
    await ran(shadow, bench, made="by the command")
    assert (await shadow.plan("1")).deletes == ("made",)


async def test_a_person_who_was_at_work_before_the_target_makes_the_command_after_it_doubtful(bench: Bench) -> None:
    shadow = await begun(bench)
    bench.write("mine", "by the person")
    await edited(shadow, bench, "edited", "by the task")
    await ran(shadow, bench, made="by the command, or by the person")
    plan = await shadow.plan("3")
    assert (plan.doubtful, plan.changes) == (("made",), 0)


async def test_what_another_task_made_stays_and_is_named(bench: Bench) -> None:
    first, second = await begun(bench), await begun(bench, "t2")
    await edited(first, bench, "one", "by the first")
    await edited(second, bench, "two", "by the second")
    await first.barrier()
    first.take("ls")
    await first.settle()
    plan = await first.plan("1")
    assert (plan.deletes, plan.others) == (("one",), ("two (t2)",))
    await first.restore("1")
    assert names(bench) == {"two"}


async def test_an_edit_takes_nothing_of_what_a_person_wrote_just_before_it(bench: Bench) -> None:
    lines = "".join(f"{n}\n" for n in range(9))
    bench.write("a", lines)
    shadow = await begun(bench)
    bench.write("a", f"mine\n{lines}")
    await edited(shadow, bench, "a", f"mine\n{lines}the task's\n")
    await shadow.restore("1")
    assert (bench.workspace / "a").read_text() == f"mine\n{lines}"


async def test_a_file_that_was_written_again_before_it_was_saved_is_in_doubt(bench: Bench) -> None:
    shadow = await begun(bench)
    await shadow.barrier(["a"], ran=False)
    bench.write("a", "by the task")
    shadow.wrote("a", None, "by the task".encode)
    bench.write("a", "by the person")
    shadow.take("edit", ["a"])
    await shadow.settle()
    assert (await shadow.restore("1")).doubtful == ("a",)
    assert (bench.workspace / "a").read_text() == "by the person"


async def test_an_edit_that_failed_makes_no_file_the_tasks(bench: Bench) -> None:
    shadow = await begun(bench)
    await shadow.barrier(["a"], ran=False)
    shadow.take("edit", ["a"])
    bench.write("a", "by the person")
    await shadow.settle()
    await shadow.restore("1")
    assert names(bench) == {"a"}


DIES = """
import asyncio, os, sys
from pathlib import Path
from halocline.checkpoints.shadow_git import ShadowGit

async def main(store, workspace, task="t1", only=""):
    shadow = ShadowGit(Path(store), Path(workspace), task, delay=0, home=Path("/nowhere"))
    shadow.begin(lambda event: None)
    await shadow.settle()
    if not only:
        await shadow.barrier(["a"], ran=False)
        Path(workspace, "a").write_text("by the task")
    os._exit(9)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_an_edit_that_a_kill_cut_from_its_event_is_still_the_tasks(bench: Bench) -> None:
    bench.write("a", "before")
    done = subprocess.run([sys.executable, "-c", DIES, bench.store, bench.workspace], check=False)
    assert done.returncode == 9
    shadow = await begun(bench)
    restored = await shadow.restore("1")
    assert restored.changed == ("a",)
    assert (bench.workspace / "a").read_text() == "before"


async def test_while_a_job_runs_nothing_is_surely_the_tasks(bench: Bench) -> None:
    shadow = ShadowGit(bench.store, bench.workspace, "t1", delay=0, home=bench.home, is_busy=lambda: True)
    shadow.begin(bench.events.append)
    await shadow.settle()
    await ran(shadow, bench, early="by the job")
    bench.write("late", "by the job or by the person")
    plan = await shadow.plan("1")
    assert (plan.doubtful, plan.changes) == (("early", "late"), 0)


def claim(at: float, until: float, *paths: bytes, task: str = "t1", ran: bool = True) -> Claim:
    return Claim(task, ROOT, at, until, frozenset(paths) or None, ran)


@pytest.mark.parametrize(
    ("claims", "at", "who"),
    [
        ([], 5.0, Who.PERSON),
        ([claim(4, 6)], 5.0, Who.COMMAND),
        ([claim(4, 6)], 3.0, Who.PERSON),
        ([claim(4, 6)], 7.0, Who.PERSON),
        ([claim(4, 6, b"/project/a")], 5.0, Who.COMMAND),
        ([claim(4, 6, b"/project/b")], 5.0, Who.PERSON),
        ([claim(4, 6, task="t2")], 5.0, Who.OTHER),
        ([claim(4, 6), claim(4, 6, task="t2")], 5.0, Who.DOUBT),
        ([claim(4, 6), claim(4, 6, b"/project/a", task="t2")], 5.0, Who.OTHER),
    ],
)
def test_a_change_is_the_tasks_only_within_what_it_claimed(claims: list[Claim], at: float, who: Who) -> None:
    found = attribute_changes({b"a": ("", "1")}, ROOT, "t1", claims, lambda path: int(at * 1e9) + 1, (0.0, 10.0))
    assert {**dict.fromkeys([b"a"], found.rest), **found.by_path()}[b"a"] is who


@pytest.mark.parametrize(("times", "is_disturbed"), [([], False), ([100 - NEAR], True), ([102 + NEAR], False)])
def test_a_command_is_in_doubt_when_somebody_else_changed_something_near_it(
    times: list[float], is_disturbed: bool
) -> None:
    assert is_disturbed_by_others(Attribution(began=100.0, ended=101.0), times) is is_disturbed


def test_many_changes_of_others_do_not_hide_those_near_the_commands_around_them() -> None:
    files = {b"f%d" % n: ("", "1") for n in range(500)}
    moments = dict(zip(files, [100.0, *range(1000, 1498), 2000.0], strict=True))
    found = attribute_changes(files, ROOT, "t1", [], lambda path: int(moments[path] * 1e9), (90.0, 2100.0))
    assert is_disturbed_by_others(Attribution(began=60.0, ended=61.0), found.times)
    assert is_disturbed_by_others(Attribution(began=2050.0, ended=2051.0), found.times)
    assert len(found.times) < 100


def test_what_was_there_when_a_look_was_asked_for_is_no_doing_of_an_edit_that_began_just_after_it() -> None:
    claims = [claim(5.001, float("inf"), b"/project/a", ran=False)]
    found = attribute_changes({b"a": ("1", "2")}, ROOT, "t1", claims, lambda path: int(5e9) + 1, (0.0, 5.0005))
    assert found.rest is Who.PERSON


def test_a_long_command_is_in_doubt() -> None:
    assert is_disturbed_by_others(Attribution(began=100.0, ended=140.0), [])


def test_what_a_message_says_is_read_again_and_damage_makes_nothing_the_tasks() -> None:
    one = Attribution(rest=Who.TASK, listed={Who.DOUBT: ("caf\xe9\n",)}, other={"t2": ("b",)}, began=1.5, ended=2.0)
    assert read_message(format_message("a label", one)) == one
    assert read_message(format_message("a label", one)[:-3]) == Attribution()
    assert read_message("a label of an older version") is None


def test_claims_of_a_process_that_died_end(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from halocline.checkpoints.changes.claims import Claims;"
        "Claims(Path(sys.argv[1]), Path('/project'), 't1').begin(None)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)
    (found,) = Claims(tmp_path, Path("/project"), "t2").since(0.0)
    assert (found.is_cut, found.until - found.at) == (True, pytest.approx(AFTER_DEATH))


def test_a_torn_line_spoils_no_other_and_a_large_file_is_cut(tmp_path: Path) -> None:
    claims = Claims(tmp_path, Path("/project"), "t1")
    with open(tmp_path / "claims", "w") as file:
        file.write('\n{"what":"beg')
    claims.begin(["a"], ran=True)
    assert [os.fsdecode(path) for one in claims.since(time.time() - 60) for path in one.paths or ()] == ["/project/a"]
    with open(tmp_path / "claims", "a") as file:
        file.write("\n" * (1 << 20))
    claims.begin(["b"], ran=True)
    trim_file(tmp_path)
    assert (tmp_path / "claims").stat().st_size < 1 << 20
    assert len(claims.since(0.0)) == 1


async def test_a_command_of_a_task_in_another_folder_is_no_company(bench: Bench, tmp_path: Path) -> None:
    elsewhere = Claims(bench.store, tmp_path / "elsewhere", "t9")
    elsewhere.begin(None, ran=True)
    shadow = await bench.begun()
    await shadow.barrier()
    bench.write("made.txt", "by a command")
    shadow.take("a command")
    await shadow.settle()
    elsewhere.end(None)
    assert (await shadow.plan("1")).deletes == ("made.txt",)
    await shadow.close()


def gone(at: float, *claims: Claim) -> Who:
    """Who removed a file, found missing by a scan between 0 and 10 s, in a folder that changed at `at` seconds."""
    found = attribute_changes({b"dir/a": ("old", "")}, ROOT, "t1", claims, lambda _: round(at * 1e9) + 1, (0.0, 10.0))
    return found.by_path().get(b"dir/a", found.rest)


COMMAND = Claim("t1", ROOT, 1.0, 2.0, None, ran=True)
NAMING = Claim("t1", ROOT, 1.0, 2.0, frozenset({b"/project/dir/a"}), ran=True)
OTHERWISE = Claim("t1", ROOT, 1.0, 2.0, frozenset({b"/project/b"}), ran=True)


@pytest.mark.parametrize("later", ["/project/dir/b", "/project/c", None])
@pytest.mark.parametrize("command", [COMMAND, NAMING])
def test_an_edit_beside_a_file_that_a_command_removed_does_not_make_that_the_person_s(command, later) -> None:
    """The edit's scan is a later one, but only the folder's time tells when the file went."""
    paths = None if later is None else frozenset({later.encode()})
    assert gone(11.0, command, Claim("t1", ROOT, 10.5, 11.5, paths, ran=paths is None)) is Who.COMMAND


def test_a_file_that_went_while_the_task_changed_nothing_beside_it_is_the_person_s() -> None:
    edit = Claim("t1", ROOT, 10.5, 11.5, frozenset({b"/project/other/b"}))
    assert gone(11.0, COMMAND, edit) is Who.PERSON
    assert gone(5.0, COMMAND) is Who.PERSON
    beside = Claim("t1", ROOT, 10.5, 11.5, frozenset({b"/project/dir/b"}))
    assert [gone(11.0, OTHERWISE, beside), gone(12.0, COMMAND, beside)] == [Who.PERSON, Who.PERSON]


async def test_what_a_command_removed_comes_back_although_an_edit_followed_at_once(bench: Bench) -> None:
    bench.write("a", "1")
    bench.write("b", "2")
    shadow = await begun(bench)
    await shadow.barrier()
    (bench.workspace / "a").unlink()
    shadow.take("rm a")
    await shadow.barrier(["b"], ran=False)
    bench.write("c", "3")
    (bench.workspace / "c").rename(bench.workspace / "b")
    shadow.wrote("b", "2".encode, "3".encode)
    shadow.take("edit", ["b"])
    await shadow.settle()
    await shadow.restore("1")
    assert (bench.workspace / "a").read_text() == "1"
    assert (bench.workspace / "b").read_text() == "2"


@pytest.mark.parametrize("then", ["nothing", "an edit", "a person's file"])
async def test_a_restore_names_an_ignored_file_that_a_command_removed_whatever_changed_beside_it_since(
    bench: Bench, then: str
) -> None:
    for name, text in ((".gitignore", "*.local\n"), ("a.local", "1"), ("b", "2")):
        bench.write(name, text)
    shadow = await begun(bench)
    await shadow.barrier()
    (bench.workspace / "a.local").unlink()
    shadow.take("rm a.local")
    await shadow.settle()
    if then == "an edit":
        await edited(shadow, bench, "b", "3")
    elif then == "a person's file":
        bench.write("mine", "by the person")
    named = [one.path for one in (await shadow.plan("1")).left_out]
    assert named == ["a.local", "mine"][: 1 + (then == "a person's file")]


async def test_a_restore_does_not_name_an_ignored_file_that_a_person_removed(bench: Bench) -> None:
    for name, text in ((".gitignore", "*.local\n"), ("a.local", "1"), ("b", "2")):
        bench.write(name, text)
    shadow = await begun(bench)
    await edited(shadow, bench, "b", "3")
    (bench.workspace / "a.local").unlink()
    assert (await shadow.plan("1")).left_out == ()
