"""Saves requested checkpoints, one at a time; requests made during a save are merged into the next one.

A checkpoint that takes too long is late: the task continues, and the rest of its files are read in the background.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from halocline.checkpoints.announcements import Announcements
from halocline.checkpoints.guards import check_workspace
from halocline.checkpoints.index.background_reading import READY, BackgroundReading
from halocline.checkpoints.repository.repository import Repository
from halocline.checkpoints.request import Request
from halocline.checkpoints.saved import Saved
from halocline.checkpoints.store.git import CheckpointsOff, TakesLong
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import CheckpointTaken

_FEW = 2
"""Number of files that are read without a thread, which would cost more."""
_FRESHEN_AFTER = 2
"""Number of full scans, the first included, before the index is refreshed: more commands are likely to follow."""
MOST_OVERTAKEN = 8
"""Number of pending checkpoints that may keep file contents in memory; beyond that, edits wait."""


class SaveQueue:
    """The requests of one task: those that wait, the one that is saved now, and the late one.

    `home` is the user's home folder. `when_idle` is called when no request is left.
    """

    def __init__(
        self, repository: Repository, announcements: Announcements, home: Path, when_idle: Callable[[], None]
    ) -> None:
        self._repository = repository
        self._announcements = announcements
        self._home = home
        self._when_idle = when_idle
        self.is_off = False
        self.waiting: deque[Request] = deque()
        self.running: Request | None = None
        self.late: Request | None = None
        self._no_longer_late = asyncio.Event()
        self._broken: Exception | None = None
        """The error that ended saving: for good if the log cannot be written; a bug only until the turn ends."""
        self._reading = BackgroundReading(repository.read_on)
        self._worker: asyncio.Task[None] | None = None
        # Until all files were read once, a checkpoint of named files would lack the others.
        self._is_whole = False
        self._missing: set[str] = set()
        """Files that a checkpoint could not save: the next one has to."""
        self._looks = 0

    def add_request(self, label: str, paths: Sequence[str] | None) -> None:
        """Request a checkpoint: together with the last one that waits, if none of its contents are kept yet."""
        if self.is_off:
            return
        if self.late is not None and self.late is not self.running:
            self.late.add(label, None)
        elif self.waiting and not self.waiting[-1].kept:
            self.waiting[-1].add(label, paths)
        else:
            self.append(Request([label], None if paths is None else set(paths)))

    def append(self, request: Request) -> None:
        """Add a request, which also saves what an earlier one could not."""
        if request.paths is not None:
            request.paths |= self._missing
        self._missing = set()
        self.waiting.append(request)

    def start(self) -> None:
        """Begin to save what waits, unless that has begun."""
        if self.waiting and (self._worker is None or self._worker.done()):
            self._worker = asyncio.create_task(self._work())

    async def wait_for(self, paths: Sequence[str] | None) -> bool:
        """Wait until these files, or any, may change. True if their present contents are being saved."""
        is_looked_at = any(request.paths is None for request in self.waiting)
        asked = [self.running, *self.waiting] if self.running else list(self.waiting)
        for request in asked:
            if not (request.is_saved.is_set() or await self.keep_contents(request, paths)):
                self.start()
                await request.is_saved.wait()
        return is_looked_at

    async def keep_contents(self, request: Request, paths: Sequence[str] | None) -> bool:
        """Keep the contents of files that may change before a checkpoint reads them. False if that is impossible."""
        reads_all = request.paths is None or not self._is_whole
        concerns = paths if reads_all else sorted(request.paths or ())
        if concerns is None or len(self.waiting) > MOST_OVERTAKEN:
            return False
        few = len(concerns) <= _FEW
        hold, asked = self._repository.hold, request.asked
        contents = hold(concerns, asked) if few else await asyncio.to_thread(hold, concerns, asked)
        if contents is not None:
            # The first contents kept are those that the checkpoint should show.
            request.kept = {**contents, **request.kept}
        return contents is not None

    def has_saved(self, paths: Sequence[str]) -> bool:
        """True if a checkpoint of these files as they are now would change nothing; False if that is not known."""
        is_idle = not (self.running or self.waiting)
        return is_idle and len(paths) <= _FEW and self._repository.has_saved(paths)

    async def settle(self) -> None:
        """Wait until all requests are done."""
        self.start()
        if (worker := self._worker) is not None:
            try:
                # The caller may be cancelled; the work goes on.
                await asyncio.shield(worker)
            finally:
                if worker.done() and not self.is_off:
                    self._worker = self._broken = None

    async def end(self) -> None:
        """Wait for the background reading, which must have been stopped."""
        await self._reading.end()

    async def wait_until_ready(self) -> None:
        """Wait until no checkpoint is late: it is saved, or it cannot be saved at all."""
        while self.late is not None and not self.is_off:
            self._no_longer_late.clear()
            await self._no_longer_late.wait()

    def _end_late(self) -> None:
        self.late = None
        self._no_longer_late.set()

    def require_working(self) -> None:
        """Raise what ended the saving, if anything did: nothing may change files in the belief that they are saved."""
        if self._broken is not None:
            raise self._broken

    def turn_off(self) -> None:
        """Drop what waits, and accept nothing more."""
        self.is_off = True
        self._no_longer_late.set()
        self._drop_waiting()

    async def _work(self) -> None:
        try:
            while self.waiting:
                self.running = self.waiting.popleft()
                try:
                    await self._serve(self.running)
                finally:
                    self.running.is_saved.set()
                    self.running = None
                if self._looks == _FRESHEN_AFTER and not self.waiting:
                    await self._freshen()
        except BaseException as error:  # wake all who wait; if there is a next checkpoint, it reads all files
            self._broken = error if isinstance(error, Exception) else None
            self._is_whole = False
            self._end_late()
            self._drop_waiting()
            if isinstance(error, HaloclineError):  # its record cannot be written
                self.turn_off()
            raise
        self._when_idle()

    async def _freshen(self) -> None:
        """Refresh the index, once per task. A failure only makes later scans slower."""
        self._looks += 1
        with suppress(HaloclineError, OSError):
            await asyncio.to_thread(self._repository.freshen)

    async def _serve(self, request: Request) -> None:
        warning = asyncio.get_running_loop().call_later(self._repository.limits.seconds / 2, self._announcements.warn)
        try:
            saved = await asyncio.to_thread(self._save, request)
        except TakesLong as late:
            self._is_whole = False
            self._fall_behind(request, late)
            return
        except (HaloclineError, OSError) as error:
            self._hand_over(request)
            if request.is_late:
                self._end_late()
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
            self._end_late()
            self._announcements.notify(READY)

    def _hand_over(self, failed: Request) -> None:
        """Let the next request save what this one could not. It must not read all files: edits have begun since."""
        self._is_whole = self._is_whole and failed.paths is not None
        if self.waiting:
            following = self.waiting[0]
            following.take_over(failed, self._repository.find_places(following.paths or ()))
        elif self._is_whole:
            self._missing |= failed.paths or set()

    def _fall_behind(self, request: Request, late: TakesLong) -> None:
        """Stop blocking the task: the rest of this checkpoint is read in the background."""
        try:
            if request.is_late:
                raise late
            self._reading.begin(late, self._catch_up, self._read_failed)
        except CheckpointsOff as error:
            self._complain(error)
            return
        self.late = request
        request.changed_meanwhile = bool(request.kept or self.waiting)
        request.is_late, request.paths, request.kept = True, None, {}
        for label in (label for other in self.waiting for label in other.labels):
            request.add(label, None)
        self._drop_waiting()
        self._announcements.report_delay(late)

    def _read_failed(self, error: Exception) -> None:
        self._end_late()  # the next request tries again
        self._complain(error)

    def _catch_up(self) -> None:
        """Save the late checkpoint, now that all files are read."""
        if self.late is not None and not self.is_off:
            self.late.asked, self.late.is_saved = time.time(), asyncio.Event()
            self.waiting.append(self.late)
            self.start()

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
            self.turn_off()
        self._announcements.complain(error)

    def _report_mended(self) -> None:
        if self._repository.mended:
            self._announcements.notify(self._repository.mended)
            self._repository.forget_mended()

    def _drop_waiting(self) -> None:
        while self.waiting:
            self.waiting.popleft().is_saved.set()
