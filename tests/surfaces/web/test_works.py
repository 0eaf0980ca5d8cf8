import asyncio
import threading

import pytest

from halocline.protocol.errors import UsageError
from halocline.surfaces.web.background_jobs import BackgroundJobs, Progress, Say, Stopped


async def over(works: BackgroundJobs, kind: str) -> None:
    while (now := works.progress(kind)) is None or not now.over:
        await asyncio.sleep(0.01)


async def test_work_says_how_far_it_is_and_a_second_one_of_its_kind_waits() -> None:
    works, go = BackgroundJobs(), threading.Event()

    def run(say: Say) -> str:
        say("one", 1, 2)
        go.wait(20)
        return "done"

    works.begin("a", run)
    while (now := works.progress("a")) is None or now.step != "one":
        await asyncio.sleep(0.01)
    assert (now.done, now.of, now.over) == (1, 2, False)
    with pytest.raises(UsageError, match="already"):
        works.begin("a", run)
    go.set()
    await over(works, "a")
    assert works.progress("a") == Progress(over=True, value="done")


async def test_work_stops_at_its_next_step_with_what_it_has_and_says_why_it_failed() -> None:
    works, go = BackgroundJobs(), threading.Event()

    def run(say: Say) -> str:
        go.wait(20)
        try:
            say("next", 1, 2)
        except Stopped:
            raise Stopped("half") from None
        return "all"

    def fails(say: Say) -> None:
        raise UsageError("No room.", "Make some.")

    works.begin("a", run)
    works.begin("b", fails)
    works.stop("a")
    go.set()
    await over(works, "a")
    await over(works, "b")
    assert works.progress("a") == Progress(over=True, stopped=True, value="half")
    assert works.progress("b") == Progress(over=True, error="No room.", hint="Make some.")
