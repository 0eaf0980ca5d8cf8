"""Whoever opens a damaged store first mends it, a list and a restore too."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.checkpoints.bench import Bench, seen

from halocline.checkpoints.store.layout import JOURNAL

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


async def test_a_file_in_the_place_of_a_store_is_put_aside(bench: Bench) -> None:
    shadow = await bench.begun()
    await shadow.close()
    store = bench.repository
    store.rename(bench.store / "elsewhere")
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
