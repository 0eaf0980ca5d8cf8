"""The tasks that pages work on: opened on demand, once each, and shared by all pages.

A task that is only viewed is never opened for writing: it is read, or joined if another process writes it. An opened
task that is idle and not viewed is closed after a while, which releases its lock.
"""

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from halocline.client.background import OpenStandings, describe_standing
from halocline.client.editor import EditorParts
from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import Client
from halocline.protocol.errors import HaloclineError, TaskBusy, UsageError
from halocline.protocol.events import (
    ApprovalRequested,
    ApprovalResolved,
    MessageQueued,
    MessageWithdrawn,
    ModeChanged,
    QuestionAnswered,
    QuestionAsked,
    QueueHeld,
    QueueReleased,
    TurnEnded,
    TurnResumed,
    TurnStarted,
)
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.protocol.waiting import end_tasks
from halocline.surfaces.web import wire
from halocline.surfaces.web.background_jobs import BackgroundJobs
from halocline.surfaces.web.board_feed import BoardFeed
from halocline.surfaces.web.edits_ahead import EditsAhead
from halocline.surfaces.web.sign_ins import SignIns

IDLE = 1_800.0
"""Seconds for which an idle task stays open without viewers."""
LOOK_EVERY = 0.5
"""Seconds between checks for tasks to close."""
LOOK_AT_OTHERS = 1.0
"""Seconds between two looks at the tasks of other processes, while a page is there."""
_TURNING = (
    ApprovalRequested,
    ApprovalResolved,
    QuestionAsked,
    QuestionAnswered,
    TurnStarted,
    TurnResumed,
    TurnEnded,
    MessageQueued,
    MessageWithdrawn,
    QueueHeld,
    QueueReleased,
    ModeChanged,
)
"""Events that may change what a task does."""
_LOGGER = logging.getLogger(__name__)


class OpenTasks:
    """The open tasks of one server.

    `workspaces` are folders for new tasks, the default first; `watchers` counts the pages that view each task. With
    `opens_waiting`, a viewed task that waits for the user is opened at once, so that its edits can be shown. `editor`
    brings the unsaved text of files to tasks that are opened here; new ones work in all folders of its window.
    """

    def __init__(
        self,
        client: Client,
        workspaces: tuple[Path, ...],
        idle: float = IDLE,
        watchers: Counter[str] | None = None,
        *,
        opens_waiting: bool = False,
        editor: EditorParts | None = None,
    ) -> None:
        self.client = client
        client.work_in(*workspaces)
        self.opens_waiting = opens_waiting
        self._editor = editor
        self.workspaces = workspaces
        self.sign_ins = SignIns()
        self.works = BackgroundJobs()
        self.writing = asyncio.Lock()
        """Held while settings or servers are written; concurrent changes would lose one."""
        self._idle = idle
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._following: dict[str, asyncio.Task[None]] = {}
        self._broke: dict[str, HaloclineError] = {}
        self._changed: set[asyncio.Event] = set()
        self._along: set[asyncio.Task[None]] = set()
        self._watchers: Counter[str] = Counter() if watchers is None else watchers
        self._used: dict[str, float] = {}
        """Monotonic time of a page's last use or view of a task."""
        self._others: dict[str, str] = {}
        self.board_feed = BoardFeed(client, self.run_along)
        self.edits_ahead = EditsAhead(client)
        self._tidying = asyncio.create_task(self._tidy(), name="tidying of tasks")
        self._looking = asyncio.create_task(self._look_at_others(), name="look at other processes' tasks")

    async def open(self, task: str, model: str | None = None) -> None:
        """Open a task, with this model if one is given, or join its writer, because a page acts on it.

        Raises what `Client.join` does.
        """
        while not self.client.is_open(task):  # a viewer may have started to join it
            await self._join(task, opens=True, model=model)
        self._used[task] = time.monotonic()

    async def join(self, task: str) -> None:
        """Join a task's writer. If the writer ends, the task is opened here only if it waits for a decision.

        Raises what `Client.join` does.
        """
        if not self.client.is_open(task):
            await self._join(task, opens=False)

    async def _join(self, task: str, *, opens: bool, model: str | None = None) -> None:
        if task not in self._opening:
            joining = self._opening[task] = asyncio.create_task(self._reach(task, model, opens=opens))
            joining.add_done_callback(lambda _: self._opening.pop(task, None))
        await asyncio.shield(self._opening[task])
        if self.client.is_open(task):
            self._follow(task)

    async def _reach(self, task: str, model: str | None, *, opens: bool) -> None:
        options = TaskOptions(attended=True, asks_again=True, editor=self._editor, model=model)
        await self.client.join(task, options, while_asked=True)
        if opens and not self.client.is_open(task):
            await self.client.join(task, options)

    async def begin(self, given: wire.Begin) -> str:
        """Start a task and return its id. Raises UsageError and what `Client.start` does."""
        workspace, *roots = await asyncio.to_thread(lambda: [*map(find_folder, (given.workspace, *given.add_dirs))])
        roots += self._others_in_window(workspace, roots)
        self.client.reload(Choices())
        options = TaskOptions(
            model=given.model,
            mode=given.mode,
            approval_mode=given.approval_mode,
            attended=True,
            trusted=given.trusted,
            roots=tuple(map(str, roots)),
            editor=self._editor,
        )
        task = await self.client.start(workspace, options)
        self._used[task] = time.monotonic()
        self._follow(task)
        return task

    def _others_in_window(self, workspace: Path, roots: Sequence[Path]) -> list[Path]:
        """Return the other folders of an editor's window, in which a task works too; none that holds another."""
        if self._editor is None or workspace not in self.workspaces:
            return []
        apart: list[Path] = []
        for folder in self.workspaces:
            if folder.is_dir() and not any(_overlap(folder, other) for other in (workspace, *roots, *apart)):
                apart.append(folder)
        return apart

    @contextmanager
    def watched(self, task: str) -> Iterator[None]:
        """Count a page as a viewer of a task, which may be a sub-agent's."""
        if self.client.is_open(task):
            self._follow(task)
        self._watchers[task] += 1
        try:
            yield
        finally:
            self._watchers[task] -= 1
            if task in self._used:
                self._used[task] = time.monotonic()

    async def ended(self, task: str) -> HaloclineError | None:
        """Wait until a task whose events ended is closed; return the error that broke it."""
        if following := self._following.get(task):
            await asyncio.wait([following])
        return self._broke.get(task)

    def writer(self, task: str) -> str:
        """Return the pid of the process that has a task open or is about to; empty if there is none."""
        goes_on = task in self._opening or self.client.is_open(task)
        return self.client.tasks.writer(task) or (str(os.getpid()) if goes_on else "")

    def known(self, task: str) -> str:
        """Validate a task id from a page. Raises TaskNotFound and UsageError."""
        return self.client.find(task)

    def workspace(self, task: str) -> Path:
        """Return a task's folder. Raises TaskNotFound."""
        if self.client.is_open(task):
            return Path(self.client.state(task).workspace)
        return Path(self.client.tasks.folders(task).workspace)

    def state(self, task: str) -> State:
        """Return a task's state, open or not. Raises TaskNotFound."""
        return self.client.state(task) if self.client.is_open(task) else fold_events(self.client.past(task))

    def model(self, task: str) -> str:
        """Return a task's model, or an empty string."""
        if self.client.is_open(task):
            return self.client.state(task).model.name
        info = self.client.tasks.info(task)
        return info.model if info else ""

    async def let_go(self, task: str) -> None:
        """Close an idle task, or leave one that another process writes. Raises TaskBusy while a turn runs."""
        if not self.client.is_open(task):
            return
        if self._is_busy(task) and not self.client.is_attached(task):
            raise TaskBusy(f"Task {task} is running.", "Stop it first.")
        following = self._following.get(task)
        await self.client.let_go(task)
        if following:
            await asyncio.wait([following])

    def standing(self) -> dict[str, str]:
        """Return the status of each open task: `asks`, `runs` or `rests`."""
        opened = filter(self.client.is_open, self._following)
        return {task: describe_standing(self.client.state(task)) for task in opened}

    def board(self) -> dict[str, str]:
        """Return the status of each task that this or another process has open."""
        return {**self._others, **self.standing()}

    async def _look_at_others(self) -> None:
        others = OpenStandings(self.client.home)
        while True:
            await asyncio.sleep(LOOK_AT_OTHERS)
            found = await asyncio.to_thread(others.look, [*self._following]) if self._changed else {}
            if found != self._others:
                self._others = found
                self._notify()

    def _is_busy(self, task: str) -> bool:
        """True if closing a task would end something. A plan, or a prompt that is held, is asked about afterwards."""
        state = self.client.state(task)
        return state.is_asking or bool(state.queue.waits) or not state.turn_is_over

    def subscribe(self, changed: asyncio.Event) -> None:
        """Set this event whenever a status may have changed."""
        self._changed.add(changed)

    def unsubscribe(self, changed: asyncio.Event) -> None:
        self._changed.discard(changed)

    def _follow(self, task: str) -> None:
        self._broke.pop(task, None)
        if task not in self._following:
            self._following[task] = asyncio.create_task(self._follow_events(task), name=f"board of {task}")
            self._notify()

    async def _follow_events(self, task: str) -> None:
        """Follow a task until it closes or breaks."""
        try:
            async for event in self.client.events(task, self.client.state(task).seq):
                if isinstance(event, _TURNING):
                    self._notify()
                if isinstance(event, ApprovalRequested):
                    await self.edits_ahead.answer(event)
            if broke := explain_error(await self.client.ended(task)):
                self._broke[task] = broke
        finally:
            self._following.pop(task, None)
            self._used.pop(task, None)
            self.edits_ahead.forget(task)
            self._notify()

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(min(LOOK_EVERY, self._idle))
            for task in [*self._following]:
                if self._is_spare(task):
                    try:
                        await self.let_go(task)
                    except HaloclineError:  # a page was faster, or it broke: its viewers get the error
                        continue

    def _is_spare(self, task: str) -> bool:
        """True if a task can be closed: idle or written elsewhere, and unused here."""
        if not self.client.is_open(task):
            return False
        used = self._used.get(task)
        is_wanted = self._watchers[task] > 0 or (used is not None and time.monotonic() - used <= self._idle)
        if self.client.is_attached(task):
            return not is_wanted
        if self._is_busy(task) or self.client.running(task):
            return False
        return used is None or not is_wanted  # unused: its writer ended, and no page acted on it

    def _notify(self) -> None:
        for changed in self._changed:
            changed.set()

    def run_along(self, work: Coroutine[None, None, None], name: str) -> asyncio.Task[None]:
        """Run something until it ends, or the server does."""
        along = asyncio.create_task(work, name=name)
        self._along.add(along)
        along.add_done_callback(self._along.discard)
        return along

    async def close(self) -> None:
        await self.sign_ins.close()
        await self.works.close()
        await end_tasks(self._tidying, self._looking, *self._along, *self._following.values(), *self._opening.values())


def explain_error(error: Exception | None) -> HaloclineError | None:
    """Translate an error for a page; the trace of a bug goes to the log."""
    if error is None or isinstance(error, HaloclineError):
        return error
    _LOGGER.error("a bug: %s", error, exc_info=error)
    return HaloclineError(
        f"Halocline failed: {type(error).__name__}: {error}.", "This is a bug; see logs/halocline.log."
    )


def find_folder(name: str, base: str = "") -> Path:
    """Resolve the path of a folder, absolute or from the folder `base`. Raises UsageError."""
    try:
        place = Path(base, Path(name).expanduser())
        if name and place.is_absolute():
            if place.is_dir():
                return place.resolve()
            if place.exists():
                raise UsageError(f"{name!r} is a file, not a folder.", f"It is in {place.resolve().parent}.")
    except (OSError, ValueError, RuntimeError):  # too long, a NUL, an unknown home
        pass
    raise UsageError(f"Folder {name!r} does not exist.", "Enter the full path of an existing folder.")


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)
