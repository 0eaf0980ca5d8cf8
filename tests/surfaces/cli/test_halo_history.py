import asyncio
import json
import os
import shutil
import time
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo, ended, shell, until_written

from halocline.protocol import events as ev

HI = {"text": "Hello."}
WAITS = {"call": [shell("echo began > began; while [ ! -e go ]; do sleep 0.05; done")]}


@pytest.fixture
async def two(halo: Halo) -> list[str]:
    """Two tasks, the older first."""
    await halo.run("-p", "-m", halo.script({"text": "It was the cache."}), "mend the parser")
    (old,) = halo.tasks
    await halo.run("-p", "-m", halo.script(HI), "say hello")
    return [old, *(task for task in halo.tasks if task != old)]


async def listed(halo: Halo, *words: str) -> list[str]:
    done = await halo.run("tasks", "list", "--json", *words)
    assert (done.code, done.err) == (0, "")
    return [info["task"] for info in done.lines]


async def test_tasks_are_searched_by_what_was_said_in_them(halo: Halo, two: list[str]) -> None:
    done = await halo.run("tasks", "list", "--search", "cach")
    line, snippet = done.out.splitlines()
    assert line.startswith(two[0])
    assert line.endswith("mend the parser")
    assert snippet == "  It was the cache."
    assert await listed(halo, "--search", "parser", "cache") == two[:1]
    assert (await halo.run("tasks", "list", "--search", "elephant")).out == (
        "No matching tasks. To search all folders: --all\n"
    )


async def test_a_task_has_a_name_a_mark_and_tags(halo: Halo, two: list[str]) -> None:
    old, new = two
    assert (await halo.run("tasks", "rename", old, "The", "parser")).out == f"Renamed {old} to The parser.\n"
    assert (await halo.run("tasks", "favourite", old[-4:])).out == f"Added {old} to favorites.\n"
    assert (await halo.run("tasks", "tag", old, "#Later", "ui", "later")).out == f"Tags of {old}: later, ui\n"
    assert (await halo.run("tasks", "tag", old, "ui", "--off")).out == f"Tags of {old}: later\n"
    assert await listed(halo, "--favourite") == await listed(halo, "--tag", "LATER") == [old]
    assert await listed(halo) == [new, old]
    assert "★ The parser #later" in (await halo.run("tasks", "list")).out
    assert halo.state(old).title == "The parser"
    done = await halo.run("tasks", "rename", old)
    assert (done.out, halo.state(old).title) == (f"Removed the name of {old}.\n", "mend the parser")


async def test_a_task_that_is_open_elsewhere_is_named_by_its_writer(halo: Halo) -> None:
    writer = await halo.start("run", "-p", "-y", "-m", halo.script(WAITS, HI), "first")
    await until_written(halo.folder / "began")
    done = await halo.run("tasks", "rename", halo.tasks[0], "Busy")
    assert (done.code, done.err) == (0, "")
    (halo.folder / "go").touch()
    assert (await ended(writer)).out == "Hello.\n"
    log = halo.log()
    assert [event.seq for event in log] == list(range(1, len(log) + 1))
    assert [event.name for event in log if isinstance(event, ev.TaskLabelled)] == ["Busy"]
    again = await halo.run("replay", halo.tasks[0])
    assert again.code == 0, again.out


async def test_a_deleted_task_can_be_taken_back_as_it_was(halo: Halo, two: list[str]) -> None:
    before = halo.raw_log(two[0])
    done = await halo.run("tasks", "delete", two[0], "-y")
    assert done.out == f"Deleted {two[0]}. To undo within 30 days: halo tasks undelete {two[0]}\n"
    assert await listed(halo) == two[1:]
    assert await listed(halo, "--search", "parser") == []
    assert two[0] in (await halo.run("tasks", "undelete")).out
    assert (await halo.run("tasks", "undelete", two[0][-4:])).out == f"Restored {two[0]}.\n"
    assert halo.raw_log(two[0]) == before
    assert await listed(halo, "--search", "parser") == two[:1]
    assert (await halo.run("tasks", "undelete")).out == "The trash is empty.\n"


async def test_what_was_deleted_long_ago_is_gone_for_good(halo: Halo, two: list[str]) -> None:
    shutil.copytree(halo.home / "tasks" / two[0], halo.home / "tasks" / "copy")
    await halo.run("tasks", "delete", two[0], "-y")
    long_ago = time.time() - 31 * 86400
    os.utime(halo.home / "trash" / two[0], (long_ago, long_ago))
    await halo.run("tasks", "delete", two[1], "-y")
    os.utime(halo.home / "trash" / f"{two[0]}.old", (long_ago, long_ago))
    await halo.run("tasks", "delete", "copy", "-y")
    assert sorted(path.name for path in (halo.home / "trash").iterdir()) == sorted([two[1], "copy"])


async def test_many_are_deleted_with_a_plan_and_favourites_stay(halo: Halo, two: list[str]) -> None:
    shutil.copytree(halo.home / "tasks" / two[0], halo.home / "tasks" / "copy")
    await halo.run("tasks", "favourite", two[1])
    await asyncio.sleep(0.01)
    today = time.strftime("%Y-%m-%d", time.localtime(time.time() + 86400))
    done = await halo.run("tasks", "delete", "--older", today)
    assert (done.code, len(halo.tasks)) == (2, 3)
    *plan, total = done.out.splitlines()
    assert sorted(line.split()[0] for line in plan) == sorted([two[0], "copy"])
    assert total.startswith("2 tasks, ")
    await halo.run("tasks", "delete", "--older", today, "-y")
    assert halo.tasks == two[1:]


async def test_a_task_that_is_open_is_not_deleted(halo: Halo) -> None:
    writer = await halo.start("run", "-p", "-y", "-m", halo.script(WAITS, HI), "first")
    await until_written(halo.folder / "began")
    done = await halo.run("tasks", "delete", halo.tasks[0], "-y")
    assert (done.code, len(halo.tasks)) == (1, 1)
    assert f"open in another process (pid {writer.pid})" in done.err
    (halo.folder / "go").touch()
    await ended(writer)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["delete"], "There are no tasks yet."),
        (["delete", "x", "--older", "3d"], "Name the tasks to delete, or their age, not both."),
        (["delete", "x"], "There is no task 'x'."),
        (["undelete", "x"], "There is no task 'x'."),
        (["list", "--since", "yesterday"], "'yesterday' is not a time."),
        (["list", "--tag", "a b"], "'a b' is not a tag."),
    ],
)
async def test_what_cannot_be_understood_is_said(halo: Halo, words: list[str], said: str) -> None:
    done = await halo.run("tasks", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


async def test_tasks_of_all_folders_are_listed_on_request(halo: Halo, two: list[str], tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert (await halo.run("tasks", "list", cwd=elsewhere)).out == (
        f"No tasks in {elsewhere}. To list all folders: --all\n"
    )
    for words in (["--all"], ["--workspace", "all"], ["-C", str(halo.folder)]):
        done = await halo.run("tasks", "list", "--json", *words, cwd=elsewhere)
        assert [json.loads(line)["task"] for line in done.out.splitlines()] == two[::-1]


@pytest.mark.parametrize("form", ["markdown", "html", "jsonl"])
async def test_no_export_has_a_key_and_each_keeps_its_form(halo: Halo, form: str) -> None:
    key = "ghp_" + "a1" * 18
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    turns = [{"text": f"It is {key}.", "call": [shell(f"printf '{begin}\\nzyx9\\n{end}\\n'")]}, HI]
    await halo.run("-p", "-y", "-m", halo.script(*turns), f"use {key}")
    done = await halo.run("export", halo.tasks[0], "-f", form)
    assert (done.code, done.err) == (0, "")
    assert key not in done.out
    assert "zyx9" not in done.out
    assert done.out.count("[redacted github-token]") >= 2
    assert "[redacted private-key]" in done.out
    if form == "jsonl":
        assert [line["seq"] for line in done.lines] == [event.seq for event in halo.log()]
