import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench
from tests.samples import choose
from tests.swapping import swapping

from halocline.checkpoints.recovery.file_changes import NotRestored, make_entry
from halocline.checkpoints.recovery.journal import Change
from halocline.checkpoints.recovery.recovery import mend_restore
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.restore.apply import apply_changes
from halocline.checkpoints.restore.export import write_tree
from halocline.checkpoints.saved import Limits
from halocline.checkpoints.store import objects
from halocline.checkpoints.store.entries import Entry
from halocline.checkpoints.store.git import Git
from halocline.checkpoints.store.reading import LINK, NOT_BELOW, PLAIN
from halocline.files.opening import opened_folder
from halocline.files.target import held_below

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="names are swapped in one step")]

RESTORES = int(os.environ.get("RESTORES", choose(200, 50)))
"""How often is restored while a folder is swapped; a thousand take half a minute."""
NAMES = (b"sub/changed", b"sub/removed", b"sub/deep/made", b"sub/link")


@pytest.fixture
def git(bench: Bench) -> Iterator[Git]:
    repository = Repository(bench.store, bench.workspace, "task", "git", Limits())
    repository.save("first", None, dict)
    with repository.opened() as git:
        yield git


@pytest.fixture
def outside(bench: Bench, tmp_path: Path) -> Path:
    """A folder beside the workspace, with what a deletion or a write by name would meet."""
    for folder in (tmp_path / "outside", bench.workspace / "sub"):
        (folder / "deep").mkdir(parents=True)
        for name in ("changed", "removed", "kept"):
            (folder / name).write_bytes(b"one")
    (tmp_path / "outside/empty").mkdir()
    (bench.workspace / "aside").symlink_to(tmp_path / "outside")
    return tmp_path / "outside"


def held(folder: Path) -> dict[str, bytes | str]:
    found = sorted(folder.rglob("*"))
    return {str(path): path.read_bytes() if path.is_file() else os.path.realpath(path) for path in found}


def read_entry(root: int, name: bytes) -> Entry | None:
    """What is at a name now. None if nothing is, or if a folder on the way is a link."""
    try:
        with held_below(root, os.fsdecode(name)) as target:
            return make_entry(target)
    except OSError as error:
        if error.errno in NOT_BELOW:
            return None
        raise


def test_no_restore_is_led_outside_by_a_folder_that_is_swapped_for_a_link(git: Git, outside: Path) -> None:
    before, done = held(outside), 0
    one, other = (Entry(PLAIN, objects.write_object(git.store, b"blob", content)) for content in (b"one", b"other"))
    link = Entry(LINK, objects.write_object(git.store, b"blob", b"changed"))
    with swapping(git.workspace / "sub", git.workspace / "aside"):
        for number in range(RESTORES):
            with opened_folder(str(git.workspace)) as root:
                now = [read_entry(root, name) for name in NAMES]
            wanted = (other, None, other, link) if number % 2 else (one, one, None, None)
            changes = [Change(*three) for three in zip(NAMES, now, wanted, strict=True) if three[1] != three[2]]
            with suppress(NotRestored):
                apply_changes([(git, changes)], lambda: None)
                done += 1
            mend_restore(git)
    assert held(outside) == before
    assert done > RESTORES // 20


def test_no_export_is_led_outside_by_a_folder_that_is_swapped_for_a_link(git: Git, outside: Path) -> None:
    before, done = held(outside), 0
    blob = bytes.fromhex(objects.write_object(git.store, b"blob", b"exported"))
    with swapping(git.workspace / "sub", git.workspace / "aside"):
        for number in range(RESTORES):
            folder = objects.write_object(git.store, b"tree", b"100644 exported%d\0%b" % (number, blob))
            tree = objects.write_object(git.store, b"tree", b"40000 sub\0%b" % bytes.fromhex(folder))
            with suppress(NotRestored):
                write_tree(git, tree, git.workspace)
                done += 1
    assert held(outside) == before
    assert done > RESTORES // 20
