"""Saves checkpoints in the background, one at a time; requests made during a save are merged into the next one.

Nothing here raises into the task: a problem becomes one `Noticed`, and the task continues without checkpoints.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from halocline.checkpoints.announcements import Announcements
from halocline.checkpoints.guards import check_workspace
from halocline.checkpoints.queries import CLOSING, Others as Others, Queries
from halocline.checkpoints.request import Request
from halocline.checkpoints.saved import FIRST, FOUND, Limits, Saved
from halocline.checkpoints.store import layout
from halocline.checkpoints.store.background_reading import READY, BackgroundReading, describe_unread
from halocline.checkpoints.store.background_upkeep import BackgroundUpkeep
from halocline.checkpoints.store.contents import name_of
from halocline.checkpoints.store.git import CheckpointsOff, TakesLong
from halocline.checkpoints.store.repository import Repository
from halocline.ports.checkpoints import Emit
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import CheckpointTaken

BY_HAND = "by-hand"
"""The task name of checkpoints that no task took."""
_COPYING = 1.0
"""Longest wait in seconds of a command for borrowed objects to be copied."""
_FEW = 2
"""Number of files that are read without a thread, which would cost more."""
_FRESHEN_AFTER = 2
"""Number of full scans, the first included, before the index is refreshed: more commands are likely to follow."""
MOST_OVERTAKEN = 8
"""Number of pending checkpoints that may keep file contents in memory; beyond that, edits wait."""


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
        pause: float = 0.01,
        idle: float = 2.0,
        quota: int | None = None,
        program: str = "git",
        home: Path | None = None,
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._repository = Repository(store, workspace, task, program, limits or Limits())
        self._home = home or Path.home()
        self._delay = delay
        self._pause = pause
        self._patience = (limits or Limits()).seconds
        self._is_busy = is_busy
        self._announcements = Announcements(self._repository.claims, self._patience)
        self._upkeep = BackgroundUpkeep(
            self._repository.upkeep,
            store,
            task,
            idle=idle,
            quota=quota,
            is_off=lambda: self._is_off,
            notify=self._announcements.notify,
        )
        self._waiting: deque[Request] = deque()
        self._running: Request | None = None
        self._late: Request | None = None
        self._reading = BackgroundReading(self._repository.read_on, self._catch_up, self._read_failed)
        self._worker: asyncio.Task[None] | None = None
        self._is_off = False
        # Until all files were read once, a checkpoint of named files would lack the others.
        self._is_whole = False
        self._looks = 0

    def begin(self, emit: Emit) -> None:
        """Save the first checkpoint soon, in the background. `emit` gets `CheckpointTaken` for each one."""
        self._announcements.emit = emit
        self._ask(FIRST, None)
        asyncio.get_running_loop().call_later(self._delay, self._start)

    def take(self, label: str, paths: Sequence[str] | None = None) -> None:
        """Request a checkpoint after the task's changes, to `paths` only, or to any file with None."""
        if paths == () or self._is_off:
            return
        if paths is not None or not self._is_busy():  # a job may still change files
            self._repository.claims.end(paths)
        self._ask(label, paths)
        asyncio.get_running_loop().call_later(self._pause, self._start)

    def mark(self, label: str) -> None:
        """Request a checkpoint even if nothing changed here: another folder of the task did."""
        if not self._is_off and self._late in (None, self._running):
            self._waiting.append(Request([label], set(), always=True))
            self._start()

    def wrote(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Record what an announced edit did to a file: its content before and after."""
        before_sha, after_sha = ("" if content is None else name_of(content) for content in (before, after))
        self._repository.claims.wrote(path, before_sha, after_sha)

    async def barrier(self, paths: Sequence[str] | None = None, *, ran: bool = True) -> None:
        """Wait until the task may change `paths`, or any file with None. Earlier requests show them as they are now.

        Changes by somebody else are saved first, so that they do not count as the task's. `ran`: a command will change
        the files, so it is not known what it writes.
        """
        if paths == () or self._is_off:
            return
        if self._late is None:
            await self._save_present(paths, ran=ran)
        if self._late is not None:
            await self._go_on_without(self._late)
        self._repository.claims.begin(paths, ran=ran)

    async def _go_on_without(self, late: Request) -> None:
        """Let files change without a checkpoint; waits a while for one that is already being saved."""
        if late is self._running or late in self._waiting:
            with suppress(TimeoutError):
                await asyncio.wait_for(late.is_saved.wait(), self._patience)
            late.changed_meanwhile = late.changed_meanwhile or not late.is_saved.is_set()
        else:
            late.changed_meanwhile = True

    async def _save_present(self, paths: Sequence[str] | None, *, ran: bool) -> None:
        if ran:  # a command may delete objects of the project's git
            await self._stand_alone(_COPYING)
        if self._repository.claims.is_any_open and not self._is_busy():
            self._repository.claims.end(None)
        is_looked_at = await self._wait(paths)
        if not is_looked_at and paths is not None:
            await self._look_at(paths)
        elif not is_looked_at:
            self._ask(FOUND, None)
            await self._wait(None)

    async def _look_at(self, paths: Sequence[str]) -> None:
        """Save the present contents of these files; waits only if they cannot be kept in memory."""
        self._waiting.append(request := Request([FOUND], set(paths)))
        if await self._keep(request, paths):
            asyncio.get_running_loop().call_later(self._pause, self._start)
        else:
            request.paths = None
            self._start()
            await request.is_saved.wait()

    async def _wait(self, paths: Sequence[str] | None) -> bool:
        """Wait until these files, or any, may change. True if their present contents are being saved."""
        is_looked_at = any(request.paths is None for request in self._waiting)
        asked = [self._running, *self._waiting] if self._running else list(self._waiting)
        for request in asked:
            if not (request.is_saved.is_set() or await self._keep(request, paths)):
                self._start()
                await request.is_saved.wait()
        return is_looked_at

    async def _keep(self, request: Request, paths: Sequence[str] | None) -> bool:
        """Keep the contents of files that may change before a checkpoint reads them. False if that is impossible."""
        reads_all = request.paths is None or not self._is_whole
        concerns = paths if reads_all else sorted(request.paths or ())
        if concerns is None or len(self._waiting) > MOST_OVERTAKEN:
            return False
        few = len(concerns) <= _FEW
        hold, asked = self._repository.hold, request.asked
        contents = hold(concerns, asked) if few else await asyncio.to_thread(hold, concerns, asked)
        if contents is not None:
            # The first contents kept are those that the checkpoint should show.
            request.kept = {**contents, **request.kept}
        return contents is not None

    async def settle(self) -> None:
        """Wait until all requests are done."""
        self._start()
        if self._worker is not None:
            # The caller may be cancelled; the work goes on.
            await asyncio.shield(self._worker)

    async def close(self) -> None:
        """Drop pending requests, stop the running one, and wait for its end.

        Borrowed objects are copied first, as far as there is time; the next user of the store does the rest.
        """
        await self._stand_alone(CLOSING)
        self._turn_off()
        self._repository.stop()
        self._upkeep.stop()
        await self.settle()
        await self._reading.end()
        await self._upkeep.end()

    @property
    def mended(self) -> str:
        """Message about a restore that another process left unfinished; usually empty."""
        return self._repository.mended

    @property
    def unread(self) -> str:
        """Message about files that must still be read before a checkpoint can be saved; usually empty."""
        count = layout.read_unread(self._repository.path)
        return describe_unread(count) if count else ""

    async def _stand_alone(self, seconds: float) -> None:
        await self._upkeep.stand_alone(seconds)

    def _ask(self, label: str, paths: Sequence[str] | None) -> None:
        if self._is_off:
            return
        if self._late is not None and self._late is not self._running:
            self._late.add(label, None)
        elif self._waiting and not self._waiting[-1].kept:
            self._waiting[-1].add(label, paths)
        else:
            self._waiting.append(Request([label], None if paths is None else set(paths)))

    def _start(self) -> None:
        if self._waiting and (self._worker is None or self._worker.done()):
            self._worker = asyncio.create_task(self._work())

    async def _work(self) -> None:
        while self._waiting:
            self._running = self._waiting.popleft()
            try:
                await self._serve(self._running)
            finally:
                self._running.is_saved.set()
                self._running = None
            if self._looks == _FRESHEN_AFTER and not self._waiting:
                await self._freshen()
        self._upkeep.plan()

    async def _freshen(self) -> None:
        """Refresh the index, once per task. A failure only makes later scans slower."""
        self._looks += 1
        with suppress(HaloclineError, OSError):
            await asyncio.to_thread(self._repository.freshen)

    async def _serve(self, request: Request) -> None:
        warning = asyncio.get_running_loop().call_later(self._patience / 2, self._announcements.warn)
        try:
            saved = await asyncio.to_thread(self._save, request)
        except TakesLong as late:
            self._is_whole = False
            self._fall_behind(request, late)
            return
        except (HaloclineError, OSError) as error:
            self._is_whole = False
            self._late = None if request.is_late else self._late
            self._complain(error)
            return
        finally:
            warning.cancel()
        self._is_whole = True
        self._looks += request.paths is None
        self._report_mended()
        self._announcements.report(saved)
        taken = [CheckpointTaken(checkpoint=sha, label=label) for sha, label in saved.before]
        if saved.is_new:
            is_late = request.changed_meanwhile
            taken.append(CheckpointTaken(checkpoint=saved.sha, label=request.label, is_late=is_late))
        self._announcements.announce(taken)
        if request.is_late:
            self._late = None
            self._announcements.notify(READY)

    def _fall_behind(self, request: Request, late: TakesLong) -> None:
        """Stop blocking the task: the rest of this checkpoint is read in the background."""
        try:
            if request.is_late:
                raise late
            self._reading.begin(late)
        except CheckpointsOff as error:
            self._complain(error)
            return
        self._late = request
        request.changed_meanwhile = bool(request.kept or self._waiting)
        request.is_late, request.paths, request.kept = True, None, {}
        for label in (label for other in self._waiting for label in other.labels):
            request.add(label, None)
        self._drop_waiting()
        self._announcements.report_delay(late)

    def _read_failed(self, error: Exception) -> None:
        self._late = None  # the next request tries again
        self._complain(error)

    def _catch_up(self) -> None:
        """Save the late checkpoint, now that all files are read."""
        if self._late is not None and not self._is_off:
            self._late.asked, self._late.is_saved = time.time(), asyncio.Event()
            self._waiting.append(self._late)
            self._start()

    def _save(self, request: Request) -> Saved:
        check_workspace(self._repository.workspace, self._home)
        paths = sorted(request.paths) if self._is_whole and request.paths is not None else None

        return self._repository.save(
            request.label,
            paths,
            lambda: request.kept,
            always=request.always,
            asked=request.asked,
            patient=request.is_late,
        )

    def _complain(self, error: Exception) -> None:
        if isinstance(error, CheckpointsOff):
            self._turn_off()
        self._announcements.complain(error)

    def _report_mended(self) -> None:
        if self._repository.mended:
            self._announcements.notify(self._repository.mended)
            self._repository.mended = ""

    def _turn_off(self) -> None:
        self._is_off = True
        self._drop_waiting()

    def _drop_waiting(self) -> None:
        while self._waiting:
            self._waiting.popleft().is_saved.set()
