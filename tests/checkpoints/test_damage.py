"""Whoever opens a damaged store first mends it, a list and a restore too."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, git, seen

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.checkpoints.store.layout import JOURNAL
from halocline.files.stamp import SETTLED_FINE

GARBAGE = b"\0garbage\xff"
DAMAGE: dict[str, Callable[[Path], object]] = {
    "HEAD": lambda store: (store / "HEAD").write_bytes(GARBAGE),
    "config": lambda store: (store / "config").write_bytes(GARBAGE),
    "index": lambda store: (store / "index").write_bytes(GARBAGE),
    "shallow": lambda store: (store / "shallow").write_bytes(GARBAGE),
}


@pytest.mark.parametrize("name", DAMAGE)
async def test_a_restore_mends_a_damaged_store(bench: Bench, name: str) -> None:
    for n in range(60):  # enough for an index
        bench.write(f"f{n}", "one")
    shadow = await bench.begun()
    bench.write("f1", "two")
    await seen(shadow)
    await shadow.close()
    DAMAGE[name](bench.repository if name != "HEAD" else next(bench.store.glob("*/HEAD")).parent)
    again = bench.shadow()
    assert [info.n for info in await again.list("t1")] == [1, 2]
    assert (await again.restore("t1/1", overwrite=True)).changed == ("f1",)
    assert (bench.workspace / "f1").read_text() == "one"
    await again.close()


PREPARED = [
    ("HEAD", GARBAGE),
    ("HEAD", None),
    ("config", GARBAGE),
    ("info/attributes", b"* text\n"),
    ("info/exclude", b""),
]


@pytest.mark.parametrize(("name", "content"), PREPARED)
async def test_what_is_changed_in_a_store_between_two_checkpoints_is_corrected(
    bench: Bench, name: str, content: bytes | None
) -> None:
    bench.write("f", "one")
    shadow = await bench.begun()
    await seen_when_settled(bench, shadow)
    store = next(bench.store.glob("*/objects")).parent
    right = (store / name).read_bytes()
    (store / name).unlink()
    if content is not None:
        (store / name).write_bytes(content)
    await seen_when_settled(bench, shadow)
    assert (store / name).read_bytes() == right
    assert bench.notices == []
    await shadow.close()


async def test_files_that_are_hidden_later_stay_out_of_the_next_checkpoint(bench: Bench) -> None:
    bench.write("f", "one")
    shadow = await bench.begun()
    await seen_when_settled(bench, shadow)
    bench.write(".haloclineignore", "private.txt\n")
    bench.write("private.txt", "private")
    await seen(shadow)
    assert bench.saved(len(bench.taken)) == {".haloclineignore", "f"}
    await shadow.close()


@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_bytes(GARBAGE)])
async def test_trees_that_are_lost_between_two_checkpoints_are_not_taken_from_memory(
    bench: Bench, damage: Callable[[Path], object]
) -> None:
    for name in ("f", "one/f", "two/f"):
        bench.write(name, "one")
    shadow = await bench.begun()
    bench.write("one/f", "two")
    shadow.take("edit", ["one/f"])
    await shadow.settle()
    for file in [file for file in bench.repository.glob("objects/??/*") if git_type(bench, file) == "tree"]:
        file.chmod(0o600)
        damage(file)
    bench.write("one/f", "three")
    shadow.take("edit", ["one/f"])
    await shadow.settle()
    assert ["damaged" in notice for notice in bench.notices] == [True]
    assert bench.saved(1) == {"f", "one/f", "two/f"}  # the first of a new store
    await shadow.close()


def git_type(bench: Bench, file: Path) -> str:
    return git(bench.workspace, f"--git-dir={bench.repository}", "cat-file", "-t", file.parent.name + file.name).strip()


async def seen_when_settled(bench: Bench, shadow: ShadowGit) -> None:
    """Save a change once everything before it is so old that any other would show."""
    await asyncio.sleep(2 * SETTLED_FINE / 1e9)
    bench.write("f", f"{len(bench.taken)}")
    shadow.take("edit", ["f"])
    await shadow.settle()


async def test_a_file_in_the_place_of_a_store_is_put_aside(bench: Bench) -> None:
    shadow = await bench.begun()
    await shadow.close()
    store = bench.repository
    store.rename(bench.store.with_name("elsewhere"))
    store.write_bytes(GARBAGE)
    again = bench.shadow("t2")
    assert await again.list() == ()
    assert [path.read_bytes() for path in bench.store.glob("*.damaged-*")] == [GARBAGE]
    await again.close()


async def test_a_list_ends_a_restore_that_was_cut_short(bench: Bench) -> None:
    shadow = await bench.begun()
    await shadow.close()
    (bench.repository / JOURNAL).write_text('{"temporary":".halo-1.tmp","changes":[]}')
    again = bench.shadow("t2")
    assert len(await again.list()) == 1
    assert "was interrupted" in again.mended
    assert not (bench.repository / JOURNAL).exists()
    await again.close()


async def test_a_checkpoint_that_is_lost_hides_no_other_in_the_list(bench: Bench) -> None:
    bench.write("f1", "one")
    shadow = await bench.begun()
    bench.write("f1", "two")
    await seen(shadow)
    await shadow.close()
    again = bench.shadow()
    lost = (await again.list("t1"))[-1].sha
    (bench.repository / "objects" / lost[:2] / lost[2:]).unlink()
    assert [info.n for info in await again.list("t1")] == [1]
    await again.close()
