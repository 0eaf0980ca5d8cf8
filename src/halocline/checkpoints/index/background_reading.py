"""Reads a large folder in the background, while the task continues without checkpoints.

What must stay true: files already read stay saved, also for the next task, and no message claims that a restore undoes
changes made before the checkpoint.
"""

import asyncio
import time
from collections.abc import Callable

from halocline.checkpoints.index import index
from halocline.checkpoints.store.git import CheckpointsOff, Git, TakesLong
from halocline.protocol.errors import HaloclineError

LATE = " (late: what changed while the files were being read is in it)"
"""Suffix of the label of a checkpoint that was taken after files had changed. Labels in stores are matched with it."""
READY = "Checkpoints are ready. Changes from now on can be undone."
_STRETCH, REST = 8.0, 0.1
"""Seconds to read, at least, before other processes get the store's lock, and seconds that they then have for it."""
_MOST = 3
"""Number of times a task may fall behind before its checkpoints are turned off."""


class BackgroundReading:
    """`read_on` blocks until all is read."""

    def __init__(self, read_on: Callable[[], None]) -> None:
        self._read_on = read_on
        self._times = 0
        self._reading: asyncio.Task[None] | None = None

    def begin(self, late: TakesLong, caught_up: Callable[[], None], failed: Callable[[Exception], None]) -> None:
        """Read what was left, then call `caught_up`, or `failed`. Raises CheckpointsOff if called too often."""
        self._times += 1
        if self._times > _MOST:
            raise CheckpointsOff(late.text, late.hint)
        self._reading = asyncio.create_task(self._read(caught_up, failed))

    async def end(self) -> None:
        """Wait for the reading, which must have been stopped."""
        if self._reading is not None:
            await self._reading

    async def _read(self, caught_up: Callable[[], None], failed: Callable[[Exception], None]) -> None:
        try:
            await asyncio.to_thread(self._read_on)
        except (HaloclineError, OSError) as error:
            self._reading = None
            failed(error)
        else:
            self._reading = None
            caught_up()


def read_stretch(git: Git, largest: int) -> bool:
    """Read for a while, with the store's lock held. True if all is read."""
    began = time.monotonic()
    wanted, _ = index.scan_index(git, largest)
    now = time.monotonic()
    try:
        index.add_paths(git, wanted, largest, index.reading_until(now + max(_STRETCH, 4 * (now - began))))
    except TakesLong:
        return False
    return True


def describe_delay(late: TakesLong) -> str:
    """Tell the user when checkpoints will be ready, and why they are not yet."""
    when = f"about {_round_seconds(late.seconds)} s" if late.seconds else "a while"
    return f"Checkpoints will be ready in {when}: {late.text}. Changes made before that cannot be undone."


def describe_unread(count: int) -> str:
    """The message of `checkpoints list` for a folder with files still to be read."""
    return (
        f"{count:,} files of this folder must still be read before a checkpoint can be saved; "
        "the next task here continues reading. Changes made before that cannot be undone."
    )


def _round_seconds(seconds: float) -> int:
    step = 5 if seconds > 10 else 1
    return max(1, round(seconds / step)) * step
