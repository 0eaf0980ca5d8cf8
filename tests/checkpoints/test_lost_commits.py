"""A store without the commit of one checkpoint: the others can be restored, and new ones are added to them."""

import pytest
from tests.checkpoints.bench import Bench, seen
from tests.samples import SAMPLED

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.protocol.errors import UsageError

pytestmark = pytest.mark.process

COUNT = 4
ALL = range(1, COUNT + 1)
PAIRS = [(lost, to) for lost in ALL for to in ALL if lost != to]


async def reopened_without(bench: Bench, lost: int) -> ShadowGit:
    """A store with four checkpoints of a file that the task changed each time, after the commit of one is gone."""
    bench.write("f", "1")
    shadow = await bench.begun()
    for n in ALL[1:]:
        bench.write("f", str(n))
        await seen(shadow)
    sha = (await shadow.list("t1"))[lost - 1].sha
    await shadow.close()
    (bench.repository / "objects" / sha[:2] / sha[2:]).unlink()
    bench.events.clear()
    return bench.shadow()


@pytest.mark.parametrize(("lost", "to"), [(lost, lost % COUNT + 1) for lost in ALL] if SAMPLED else PAIRS)
async def test_every_checkpoint_but_the_lost_one_can_be_restored(bench: Bench, lost: int, to: int) -> None:
    again = await reopened_without(bench, lost)
    plan = await again.plan(str(to))
    unknown = to < lost  # nobody knows who made the changes of the lost one, so they stay
    assert (*plan.doubtful, *plan.conflicts) == (("f",) if unknown else ())
    assert plan.yours == ()
    done = await again.restore(str(to), overwrite=True)
    assert (bench.workspace / "f").read_text() == str(to)
    await again.restore(done.undo, overwrite=True)
    assert (bench.workspace / "f").read_text() == str(COUNT)
    await again.close()


@pytest.mark.parametrize("lost", ALL)
async def test_a_lost_checkpoint_cannot_be_restored_itself(bench: Bench, lost: int) -> None:
    again = await reopened_without(bench, lost)
    with pytest.raises(UsageError):
        await again.restore(str(lost))
    assert (bench.workspace / "f").read_text() == str(COUNT)
    await again.close()


@pytest.mark.parametrize("lost", ALL)
async def test_the_next_checkpoint_joins_those_that_are_left(bench: Bench, lost: int) -> None:
    await (await reopened_without(bench, lost)).close()
    again = await bench.begun()
    bench.write("f", "5")
    await seen(again)
    numbers = [info.n for info in await again.list("t1")]
    assert numbers[: COUNT - 1] == [n for n in ALL if n != lost]
    assert min(numbers[COUNT - 1 :]) > COUNT
    (notice,) = bench.notices
    assert f"checkpoint {lost} of this task is lost" in notice
    await again.close()


async def test_changes_since_a_lost_checkpoint_stay_doubtful_in_later_ones(bench: Bench) -> None:
    await (await reopened_without(bench, COUNT)).close()
    again = await bench.begun()
    bench.write("g", "new")
    await seen(again)
    plan = await again.plan("3")
    assert (plan.doubtful, plan.deletes) == (("f",), ("g",))
    await again.close()
