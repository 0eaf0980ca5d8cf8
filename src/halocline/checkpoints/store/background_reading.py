"""Reads a folder that is too large for a step to wait for, while the task goes on without checkpoints.

What must stay true: what was read is kept, also for the next task, and nobody is told that a restore takes back changes
made before the checkpoint.
"""

import asyncio
import time
from collections.abc import Callable

from halocline.checkpoints.store import index
from halocline.checkpoints.store.git import CheckpointsOff, Git, TakesLong
from halocline.protocol.errors import HaloclineError

LATE = " (late: what changed while the files were being read is in it)"
"""The end of the label of a checkpoint that was taken after files had changed."""
READY = "Checkpoints are ready. From now on you can undo changes."
_STRETCH, REST = 8.0, 0.1
"""Seconds for which a store is read on, at least, before others may have it, and for which they may then."""
_MOST = 3
"""Times that a task falls behind before its checkpoints are given up."""


class BackgroundReading:
    """`read_on` blocks until all is read. `caught_up` is called then, `failed` when that cannot be done."""

    def __init__(
        self, read_on: Callable[[], None], caught_up: Callable[[], None], failed: Callable[[Exception], None]
    ) -> None:
        self._read_on = read_on
        self._caught_up = caught_up
        self._failed = failed
        self._times = 0
        self._reading: asyncio.Task[None] | None = None

    @property
    def is_under_way(self) -> bool:
        """Tell whether files are being read now."""
        return self._reading is not None

    def begin(self, late: TakesLong) -> None:
        """Go on reading what one checkpoint had no time for. Raises CheckpointsOff when that happens over and over."""
        self._times += 1
        if self._times > _MOST:
            raise CheckpointsOff(late.text, late.hint)
        self._reading = asyncio.create_task(self._read())

    async def end(self) -> None:
        """Wait for the reading, which was told to stop."""
        if self._reading is not None:
            await self._reading

    async def _read(self) -> None:
        try:
            await asyncio.to_thread(self._read_on)
        except (HaloclineError, OSError) as error:
            self._reading = None
            self._failed(error)
        else:
            self._reading = None
            self._caught_up()


def read_stretch(git: Git, largest: int) -> bool:
    """Read on for a while, with the store's lock in hand, and tell whether all is read."""
    began = time.monotonic()
    wanted, _ = index.scan_index(git, largest)
    now = time.monotonic()
    try:
        index.add_paths(git, wanted, largest, index.reading_until(now + max(_STRETCH, 4 * (now - began))))
    except TakesLong:
        return False
    return True


def describe_delay(late: TakesLong) -> str:
    """Say to the person when checkpoints will be ready, and why not yet."""
    when = f"about {_round_seconds(late.seconds)} s" if late.seconds else "a while"
    return f"Checkpoints will be ready after {when}: {late.text}. Changes made before that cannot be undone."


def describe_unread(count: int) -> str:
    """Say what `checkpoints list` shows for a folder with files still to be read."""
    return (
        f"{count:,} files of this folder must still be read before a checkpoint can be taken; "
        "the next task here goes on reading. Changes made before that cannot be undone."
    )


def _round_seconds(seconds: float) -> int:
    step = 5 if seconds > 10 else 1
    return max(1, round(seconds / step)) * step
