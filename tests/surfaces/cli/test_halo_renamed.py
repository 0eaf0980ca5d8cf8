import pytest
from tests.surfaces.cli.halo_process import Halo, call

from halocline.files.folder_mark import read_mark

TURNS = ({"call": [call("write_to_file", path="note.txt", content="after\n")]}, {"text": "Done."})


@pytest.fixture
async def task(halo: Halo) -> str:
    """A task in a folder that was renamed after it."""
    if not read_mark(halo.folder):
        pytest.skip("this file system cannot tell folders apart")
    (halo.folder / "note.txt").write_text("before\n")
    done = await halo.run("-y", "-p", "-m", halo.script(*TURNS), "write a note")
    assert done.code == 0, done.err
    halo.folder = halo.folder.rename(halo.root / "new")
    return halo.tasks[-1]


def has_said(halo: Halo, err: str) -> bool:
    return f"The folder {halo.root / 'project'} is called {halo.folder} now." in " ".join(err.split())


async def test_the_tasks_of_a_renamed_folder_are_listed_and_it_is_said_where_it_was(halo: Halo, task: str) -> None:
    listed = await halo.run("tasks", "list")
    assert task in listed.out
    assert has_said(halo, listed.err)


async def test_halo_c_goes_on_in_the_renamed_folder_and_then_it_is_said_no_more(halo: Halo, task: str) -> None:
    done = await halo.run("-c", "-y", "-p", "-m", halo.script(*TURNS, {"text": "Again."}, name="again"), "go on")
    assert (done.code, done.out) == (0, "Again.\n"), done.err
    listed = await halo.run("tasks", "list")
    assert task in listed.out
    assert listed.err == ""


async def test_the_list_to_pick_from_has_the_tasks_of_a_renamed_folder(halo: Halo, task: str) -> None:
    refused = await halo.run("-r", "-p", "go on")
    assert task in refused.err


async def test_the_checkpoints_of_a_renamed_folder_are_listed_and_restored_into_it(halo: Halo, task: str) -> None:
    listed = await halo.run("checkpoints", "list")
    assert f"{task}/1" in listed.out
    assert "lost" not in listed.out
    assert has_said(halo, listed.err)
    restored = await halo.run("checkpoints", "restore", f"{task}/1", "--yes")
    assert restored.code == 0, restored.err
    assert (halo.folder / "note.txt").read_text() == "before\n"
    assert not (halo.root / "project").exists()


async def test_a_fork_into_another_folder_is_neither_renamed_nor_without_its_checkpoints(halo: Halo, task: str) -> None:
    (point,) = [line.split()[0] for line in (await halo.run("tasks", "show", task, "--points")).out.splitlines()][-1:]
    forked = await halo.run("fork", task, "--at", point, "--files", "../beside")
    assert forked.code == 0, forked.err
    listed = await halo.run("tasks", "list", cwd=halo.root / "beside")
    assert "is called" not in listed.err
    assert "lost" not in (await halo.run("doctor")).out
