"""Checkpoints in the background: one saving runs at a time, and what is asked for meanwhile is merged into the next.

Nothing here raises into the task: trouble becomes one `Noticed`, and the work goes on without checkpoints.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

import msgspec

from halocline.checkpoints.git import CheckpointsOff, Stopped
from halocline.checkpoints.guards import check_workspace
from halocline.checkpoints.overtaking import Contents, Kept
from halocline.checkpoints.repository import CheckpointInfo, Limits, Repository, Saved
from halocline.checkpoints.restore import Restored, RestorePlan, plan, restore
from halocline.ports.checkpoints import Emit
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import CheckpointTaken, Noticed

P = ParamSpec("P")
T = TypeVar("T")

MOST_OVERTAKEN = 8
"""Checkpoints that may wait with what files held in memory; after so many, edits wait for them."""


class _Request(msgspec.Struct):
    """A checkpoint that is wanted. `paths` of None means that anything may have changed.

    `kept` is what files held that were changed before it could read them.
    """

    labels: list[str]
    paths: set[str] | None
    is_read: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    kept: dict[bytes, Kept | None] = msgspec.field(default_factory=dict)

    def add(self, label: str, paths: Sequence[str] | None) -> None:
        if label not in self.labels:
            self.labels.append(label)
        self.paths = None if self.paths is None or paths is None else self.paths | set(paths)


class ShadowGit:
    """The checkpoints of one task, in a git repository apart from the project's own.

    `store` is the folder of all checkpoints, `<home>/checkpoints`. `delay` is how many seconds the first checkpoint
    waits, so that the first request to the model goes out before it; `home` is the person's home folder.

    The queries wait for what was asked for before, and raise HaloclineError. A checkpoint is named by its number within
    the task, as `task/number`, or by its hash.
    """

    def __init__(
        self,
        store: Path,
        workspace: Path,
        task: str,
        *,
        limits: Limits | None = None,
        delay: float = 0.05,
        program: str = "git",
        home: Path | None = None,
    ) -> None:
        self._repository = Repository(store, workspace, task, program, limits or Limits())
        self._home = home or Path.home()
        self._delay = delay
        self._emit: Emit = lambda event: None
        self._waiting: deque[_Request] = deque()
        self._running: _Request | None = None
        self._worker: asyncio.Task[None] | None = None
        self._is_off = False
        # Until everything was read once, naming single files would give a checkpoint without the others.
        self._is_whole = False
        self._has_complained = False
        self._has_told_what_is_left_out = False

    def begin(self, emit: Emit) -> None:
        """Save the first checkpoint soon, in the background. `emit` gets `CheckpointTaken` whenever one is done."""
        self._emit = emit
        self._ask("Start", None)
        asyncio.get_running_loop().call_later(self._delay, self._start)

    def take(self, label: str, paths: Sequence[str] | None = None) -> None:
        """Ask for a checkpoint. `paths` says that only these changed; None means anything may have."""
        self._ask(label, paths)
        self._start()

    async def barrier(self, paths: Sequence[str] | None = None) -> None:
        """Wait until files may change again: these, or any. What was asked for will show them as they are now."""
        self._start()
        asked = [self._running, *self._waiting] if self._running else list(self._waiting)
        for request in asked:
            if not (request.is_read.is_set() or await self._keep(request, paths)):
                await request.is_read.wait()

    async def _keep(self, request: _Request, paths: Sequence[str] | None) -> bool:
        """Let files change before a checkpoint reads them; false when it cannot be made good later."""
        reads_all = request.paths is None or not self._is_whole
        concerns = paths if reads_all else sorted(request.paths or ())
        if concerns is None or len(self._waiting) > MOST_OVERTAKEN:
            return False
        contents = await asyncio.to_thread(self._repository.keep, concerns)
        if contents is not None:
            # What was kept first is what the checkpoint should have found.
            request.kept = {**contents, **request.kept}
        return contents is not None

    async def settle(self) -> None:
        """Wait until all that was asked for is done."""
        self._start()
        if self._worker is not None:
            # Whoever waits may be cancelled; the work goes on.
            await asyncio.shield(self._worker)

    async def close(self) -> None:
        """Drop what has not begun, break off what runs, and wait until it is gone."""
        self._turn_off()
        self._repository.stop()
        await self.settle()

    async def list(self, task: str | None = None) -> tuple[CheckpointInfo, ...]:
        """The checkpoints of one task or of all tasks in this workspace, oldest first."""
        return await self._query(self._repository.list, task)

    async def diff(self, old: str, new: str | None = None) -> str:
        """The unified diff between two checkpoints, or from one to the files as they are now."""
        return await self._query(self._repository.diff, old, new)

    async def plan(self, target: str) -> RestorePlan:
        """What `restore` would do now."""
        return await self._query(plan, self._repository, target)

    async def restore(self, target: str) -> Restored:
        """Save the present, which is the undo, then put the files back exactly."""
        return await self._query(restore, self._repository, target)

    async def _query(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        await self.settle()
        try:
            return await asyncio.to_thread(function, *arguments, **named)
        except OSError as error:
            raise HaloclineError(f"The checkpoints cannot be used: {error}") from error

    def _ask(self, label: str, paths: Sequence[str] | None) -> None:
        if self._is_off:
            return
        if self._waiting and not self._waiting[-1].kept:
            self._waiting[-1].add(label, paths)
        else:
            self._waiting.append(_Request([label], None if paths is None else set(paths)))

    def _start(self) -> None:
        if self._waiting and (self._worker is None or self._worker.done()):
            self._worker = asyncio.create_task(self._work())

    async def _work(self) -> None:
        while self._waiting:
            self._running = self._waiting.popleft()
            try:
                await self._serve(self._running)
            finally:
                self._running.is_read.set()
                self._running = None

    async def _serve(self, request: _Request) -> None:
        try:
            saved = await asyncio.to_thread(self._save, request, asyncio.get_running_loop())
        except (HaloclineError, OSError) as error:
            self._is_whole = False
            self._complain(error)
            return
        self._is_whole = True
        self._tell(saved)
        if saved.is_new:
            self._emit(CheckpointTaken(checkpoint=saved.sha, label=_label(request)))

    def _save(self, request: _Request, loop: asyncio.AbstractEventLoop) -> Saved:
        check_workspace(self._repository.workspace, self._home)
        paths = sorted(request.paths) if self._is_whole and request.paths is not None else None

        def on_read() -> Contents:
            loop.call_soon_threadsafe(request.is_read.set)
            return request.kept

        return self._repository.save(_label(request), paths, on_read)

    def _complain(self, error: HaloclineError | OSError) -> None:
        match error:
            case Stopped():
                return
            case CheckpointsOff():
                self._turn_off()
                text = f"Checkpoints are off: {error.text}. {error.hint}"
            case _:
                text = f"A checkpoint could not be saved: {error}"
        if not self._has_complained:
            self._has_complained = True
            self._emit(Noticed(text))

    def _turn_off(self) -> None:
        self._is_off = True
        while self._waiting:
            self._waiting.popleft().is_read.set()

    def _tell(self, saved: Saved) -> None:
        if saved.aside is not None:
            self._emit(Noticed(f"The store of checkpoints was damaged. A new one was begun; the old is {saved.aside}."))
        if saved.left_out and not self._has_told_what_is_left_out:
            self._has_told_what_is_left_out = True
            self._emit(Noticed(_what_is_left_out(saved.left_out)))


def _label(request: _Request) -> str:
    return "; ".join(request.labels)


def _what_is_left_out(places: frozenset[bytes]) -> str:
    names = [place.decode(errors="replace") for place in sorted(places)]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    shown = ", ".join(names[:3]) + more
    return f"Checkpoints leave out what is very large, unreadable or a repository of its own: {shown}."
