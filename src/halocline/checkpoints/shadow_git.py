"""The checkpoints of one task: requests them when files change, and holds changes back until the present is safe.

Saving continues in the background (`save_queue`). Nothing here raises into the task: a problem
becomes one `Noticed`, and the task continues without checkpoints.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from halocline.checkpoints.announcements import Announcements
from halocline.checkpoints.index.background_reading import describe_unread
from halocline.checkpoints.queries import CLOSING, Others as Others, Queries
from halocline.checkpoints.repository.background_upkeep import BackgroundUpkeep
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.repository.upkeep import Upkeep
from halocline.checkpoints.request import Request
from halocline.checkpoints.save_queue import SaveQueue
from halocline.checkpoints.saved import FIRST, FOUND, Limits
from halocline.checkpoints.store import layout
from halocline.checkpoints.store.contents import name_of
from halocline.checkpoints.store.unreported import forget_made
from halocline.files.real_paths import find_real_path
from halocline.ports.checkpoints import Content, Emit
from halocline.protocol.waiting import wait_at_most

BY_HAND = "by-hand"
"""The task name of checkpoints that no task took."""
WAITS = (
    "This command deletes or overwrites files, so it waits until the first checkpoint of the folder is saved. "
    "To go on without it, interrupt the turn; to do so always, turn checkpoints off in the settings."
)
_COPYING = 1.0
"""Longest wait in seconds of a command for borrowed objects to be copied."""


class ShadowGit(Queries):
    """The checkpoints of one task, in a git repository separate from the project's own.

    `store` is the folder of all checkpoints, `<home>/checkpoints`. The first checkpoint waits `delay` seconds, every
    other one `pause` seconds, so that the next request to the model is sent first; upkeep of the store starts after
    `idle` seconds without a request; all stores together may take `quota` bytes; `home` is the user's home folder.

    Queries wait for earlier requests, and raise HaloclineError. A checkpoint is named by its number within the task, as
    `task/number`, or by its hash.
    """

    def __init__(
        self,
        store: Path,
        workspace: Path,
        task: str,
        *,
        limits: Limits | None = None,
        delay: float = 0.05,
        pause: float = 0.002,
        idle: float = 2.0,
        quota: int | None = None,
        program: str = "git",
        home: Path | None = None,
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._repository = Repository(store, workspace, task, program, limits or Limits())
        self._delay = delay
        self._pause = pause
        self._is_busy = is_busy
        self._announcements = Announcements(self._repository.claims, self._repository.limits.seconds)
        self._upkeep = BackgroundUpkeep(
            Upkeep(self._repository),
            store,
            task,
            idle=idle,
            quota=quota,
            is_off=lambda: self._queue.is_off,
            notify=self._announcements.notify,
        )
        self._queue = SaveQueue(self._repository, self._announcements, home or Path.home(), self._upkeep.plan)

    def begin(self, emit: Emit) -> None:
        """Save the first checkpoint soon, in the background. `emit` gets `CheckpointTaken` for each one."""
        self._announcements.emit = emit
        self._queue.add_request(FIRST, None)
        asyncio.get_running_loop().call_later(self._delay, self._queue.start)

    def take(self, label: str, paths: Sequence[str] | None = None) -> None:
        """Request a checkpoint after the task's changes, to `paths` only, or to any file with None."""
        if paths == () or self._queue.is_off:
            return
        if paths is not None or not self._is_busy():  # a job may still change files
            self._repository.claims.end(paths)
        self._queue.add_request(label, paths)
        asyncio.get_running_loop().call_later(self._pause, self._queue.start)

    def mark(self, label: str) -> None:
        """Request a checkpoint even if nothing changed here: another folder of the task did."""
        if not self._queue.is_off and self._queue.late in (None, self._queue.running):
            self._queue.append(Request([label], set(), always=True))
            self._queue.start()

    def wrote(self, path: str, before: Content, after: Content) -> None:
        """Record what an announced edit did to a file: its content before and after."""
        before_sha, after_sha = ("" if content is None else name_of(content()) for content in (before, after))
        place = find_real_path(os.path.join(self.workspace, path))  # an edit changes what a link leads to
        self._repository.claims.wrote(place, before_sha, after_sha)

    async def barrier(self, paths: Sequence[str] | None = None, *, ran: bool = True, destroys: bool = False) -> None:
        """Wait until the task may change `paths`, or any file with None. Earlier requests show them as they are now.

        Changes by somebody else are saved first, so that they do not count as the task's. `ran`: a command will change
        the files, so it is not known what it writes. `destroys`: it waits for a late checkpoint until that is ready.

        Raises what ended the saving, if the task's log cannot be written.
        """
        self._queue.require_working()
        if paths == () or self._queue.is_off:
            return
        await self._make_safe(paths, ran=ran, destroys=destroys)
        self._queue.require_working()
        self._repository.claims.begin(paths, ran=ran)

    async def _make_safe(self, paths: Sequence[str] | None, *, ran: bool, destroys: bool) -> None:
        if self._queue.late is None:
            await self._save_present(paths, ran=ran)
        if self._queue.late is not None and destroys:
            self._announcements.notify(WAITS)
            await self._queue.wait_until_ready()
            if not self._queue.is_off:
                await self._save_present(paths, ran=ran)
        if self._queue.late is not None:
            await self._go_on_without(self._queue.late)

    async def _go_on_without(self, late: Request) -> None:
        """Let files change without a checkpoint; waits a while for one that is already being saved."""
        if late is self._queue.running or late in self._queue.waiting:
            await wait_at_most(self._repository.limits.seconds, late.is_saved.wait())
            late.changed_meanwhile = late.changed_meanwhile or not late.is_saved.is_set()
        else:
            late.changed_meanwhile = True

    async def _save_present(self, paths: Sequence[str] | None, *, ran: bool) -> None:
        if ran:  # a command may delete objects of the project's git
            await self._upkeep.stand_alone(_COPYING)
        if self._repository.claims.is_any_open and not self._is_busy():
            self._repository.claims.end(None)
        # What a command overwrites must be on the disk; of what an edit overwrites, the log has the content.
        is_looked_at = await self._queue.wait_for(None if ran else paths)
        if not is_looked_at and paths is not None:
            await self._look_at(paths, waits=ran)
        elif not is_looked_at:
            self._queue.add_request(FOUND, None)
            await self._queue.wait_for(None)

    async def _look_at(self, paths: Sequence[str], *, waits: bool) -> None:
        """Save the present contents of these files; `waits` for that, or if they cannot be kept in memory."""
        if self._queue.has_saved(paths):
            return
        self._queue.append(request := Request([FOUND], set(paths)))
        if waits:
            self._queue.start()
            await request.is_saved.wait()
        elif await self._queue.keep_contents(request, paths):
            asyncio.get_running_loop().call_later(self._pause, self._queue.start)
        else:
            request.paths = None
            self._queue.start()
            await request.is_saved.wait()

    async def settle(self) -> None:
        """Wait until all requests are done."""
        await self._queue.settle()

    async def close(self) -> None:
        """Drop pending requests, stop the running one, and wait for its end.

        Borrowed objects are copied first, as far as there is time; the next user of the store does the rest.
        """
        await self._upkeep.stand_alone(CLOSING)
        self._queue.turn_off()
        self._repository.stop()
        self._upkeep.stop()
        try:
            await self.settle()
        finally:  # the threads end although the saving broke
            await self._queue.end()
            await self._upkeep.end()

    @property
    def mended(self) -> str:
        """Message about a restore that another process left unfinished, or did not report; usually empty."""
        return self._repository.mended

    def forget_mended(self) -> None:
        """Forget that message: a person was told."""
        self._repository.forget_mended()

    def forget_made(self) -> None:
        """Forget what was noted of a restore in case that this process is killed: the task's log says it."""
        forget_made(self._repository.path)

    @property
    def unread(self) -> str:
        """Message about files that must still be read before a checkpoint can be saved; usually empty."""
        count = layout.read_unread(self._repository.path)
        return describe_unread(count) if count else ""
