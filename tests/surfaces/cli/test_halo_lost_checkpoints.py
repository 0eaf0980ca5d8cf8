import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import Halo, call

WRITES = [call("read_file", path="note.txt"), call("write_to_file", path="note.txt", content="after\n")]
TURNS = ({"call": WRITES}, {"text": "Done."})


def delete(store: Path) -> None:
    shutil.rmtree(store)


def empty_objects(store: Path) -> None:
    """What a power cut leaves of files that were never synced."""
    for one in (store / "objects").rglob("*"):
        if one.is_file() and one.parent.name != "info":
            one.chmod(0o600)
            one.write_bytes(b"")


def forget_references(store: Path) -> None:
    shutil.rmtree(store / "refs" / "halocline")
    empty_objects(store)


def empty_one_content(store: Path) -> None:
    """Leave commits and trees as they are: the loss of a file's content is one, too."""
    for one in (store / "objects").glob("??/*"):
        if one.stat().st_size < 40:  # "before" and a header, packed
            one.chmod(0o600)
            one.write_bytes(b"")


DAMAGES = [delete, empty_objects, forget_references, empty_one_content]


@pytest.fixture
async def task(halo: Halo) -> str:
    (halo.folder / "note.txt").write_text("before\n")
    done = await halo.run("-y", "-p", "-m", halo.script(*TURNS), "write a note")
    assert done.code == 0, done.err
    return halo.tasks[-1]


def only_store(halo: Halo) -> Path:
    (head,) = (halo.home / "checkpoints").glob("*/HEAD")
    return head.parent


@pytest.mark.parametrize("damage", DAMAGES)
async def test_checkpoints_that_the_log_names_and_the_store_lacks_are_lost_and_never_none_yet(
    halo: Halo, task: str, damage: Callable[[Path], None]
) -> None:
    damage(only_store(halo))
    listed = await halo.run("checkpoints", "list")
    assert f"of task {task}" in listed.out
    assert "lost: the checkpoint store of this folder is damaged or was deleted" in listed.out
    assert " yet" not in listed.out
    assert "– stores Checkpoints of 1 task are lost" in " ".join((await halo.run("doctor")).out.split())


@pytest.mark.parametrize("damage", [delete, empty_objects, forget_references])
async def test_a_restore_of_a_lost_checkpoint_says_so_and_the_edits_can_be_taken_back(
    halo: Halo, task: str, damage: Callable[[Path], None]
) -> None:
    damage(only_store(halo))
    refused = await halo.run("checkpoints", "restore", f"{task}/1", "--yes")
    assert refused.code != 0
    assert f"Checkpoint 1 of task {task} is lost" in refused.err
    assert f"halo checkpoints restore {task}@1" in refused.err
    done = await halo.run("checkpoints", "restore", f"{task}@1", "--yes")
    assert done.code == 0, done.err
    assert not (halo.folder / "note.txt").exists() or (halo.folder / "note.txt").read_text() == "before\n"


async def test_checkpoints_that_were_deleted_to_free_space_are_not_lost(halo: Halo, task: str) -> None:
    pruned = await halo.run("storage", "prune", "--keep", "1", "--yes")
    assert pruned.code == 0, pruned.err
    assert "lost" not in (await halo.run("checkpoints", "list")).out
    assert "are lost" not in (await halo.run("doctor")).out
