"""A requested checkpoint, from the request until it is saved."""

import asyncio
import time
from collections.abc import Collection, Sequence

import msgspec

from halocline.checkpoints.index.background_reading import LATE
from halocline.checkpoints.saved import FOUND
from halocline.checkpoints.store.reading import Kept


class Request(msgspec.Struct):
    """A requested checkpoint. `paths` of None means that any file may have changed.

    `kept` has the contents of files that changed before they could be read. Without `always`, nothing is saved if
    nothing changed. A request that `is_late` took too long, so the task no longer waits for it; `changed_meanwhile`
    means that files changed before it was saved.
    """

    labels: list[str]
    paths: set[str] | None
    is_saved: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    kept: dict[bytes, Kept | None] = msgspec.field(default_factory=dict)
    always: bool = False
    asked: float = msgspec.field(default_factory=time.time)
    is_late: bool = False
    changed_meanwhile: bool = False

    def add(self, label: str, paths: Sequence[str] | None) -> None:
        self.asked = time.time()
        if label not in self.labels:
            self.labels = [one for one in (*self.labels, label) if one != FOUND]
        self.paths = None if self.paths is None or paths is None else self.paths | set(paths)

    def take_over(self, failed: "Request", own: Collection[bytes]) -> None:
        """Save also what the request before this one could not save, as it was kept then.

        Between the two, the task changed nothing but this request's own files, at the places in `own`.
        """
        if self.paths is not None:
            self.kept = {place: kept for place, kept in failed.kept.items() if place not in own} | self.kept
            self.paths |= failed.paths or set()

    @property
    def label(self) -> str:
        return "; ".join(self.labels) + (LATE if self.changed_meanwhile else "")
