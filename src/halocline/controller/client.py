"""What a surface holds: one handle on the controller, under one name."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.checkpoints.restore import Restored
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.controller.assembly import Assembly, Choices
from halocline.controller.controller import Controller, TaskOptions
from halocline.controller.model_list import OfferedModel
from halocline.protocol import commands as cmd
from halocline.protocol.events import DurableEvent, Event
from halocline.protocol.jobs import JobInfo
from halocline.protocol.state import State
from halocline.protocol.tasks import TaskInfo, TaskQuery

if TYPE_CHECKING:
    from halocline.controller.accounts import Accounts
    from halocline.controller.connection_test import Connection
    from halocline.controller.hooks import FolderHooks
    from halocline.controller.replay import Replay


def open_client(choices: Choices, name: str = "cli") -> "Client":
    """A client of a controller of its own, in this process. Raises UsageError and SettingsError."""
    return Client(Controller(Assembly.of(choices)), name)


if TYPE_CHECKING:
    from halocline.providers.catalogue_refresh import Refreshed


ALL_TASKS = TaskQuery()


class Client:
    """A named way into the controller; `name` is written down with every decision it sends."""

    def __init__(self, controller: Controller, name: str) -> None:
        self._controller = controller
        self.name = name
        self.home = controller.home

    async def start(self, workspace: Path, options: TaskOptions, name: str = "") -> str:
        """Begin a task and give its id, which is `name` for one that another task handed over to."""
        return await self._controller.start(workspace, options, name)

    async def let_go(self, task: str) -> None:
        """Close one open task, with its jobs."""
        await self._controller.let_go(task)

    async def resume(self, task: str, options: TaskOptions) -> str:
        return await self._controller.resume(task, options)

    async def attach(self, task: str, options: TaskOptions) -> str:
        """Join a task that another process writes; when that one ends, an attended task goes on here.

        Raises:
            TaskNotFound, TaskBusy, UsageError
        """
        return await self._controller.attach(task, options, self.name)

    def is_attached(self, task: str) -> bool:
        """Whether a task is joined that another process writes now; that changes when this one takes over."""
        return self._controller.is_attached(task)

    def writer(self, task: str) -> str:
        """The pid of another process that has a task open; empty when none has."""
        return self._controller.writer(task)

    def send(self, command: cmd.AnyCommand) -> bool:
        """Pass a command on. False when it came too late: somebody else decided, or nothing asks any more."""
        return self._controller.send(replace(command, client=self.name))

    def events(self, task: str, after: int = 0) -> AsyncIterator[Event]:
        """The past after `after`, then the live tail, without a gap."""
        return self._controller.events(task, after)

    def previewed(self, task: str, after: int = 0) -> AsyncIterator[Event]:
        """The same of an open task, with an `EditPreviewed` for each line of an edit that is being written."""
        return self._controller.previewed(task, after)

    def state(self, task: str) -> State:
        return self._controller.state(task)

    def past(self, task: str) -> list[DurableEvent]:
        """All that was written of a task, open or not."""
        return self._controller.past(task)

    def jobs(self, task: str) -> tuple[JobInfo, ...]:
        """The commands that an open task let go on, and those of them that ended lately."""
        return self._controller.jobs(task)

    def history(self, query: TaskQuery = ALL_TASKS) -> list[TaskInfo]:
        """The tasks of this home that are asked for; the newest first, or the best when words are."""
        return self._controller.desk.chosen(query)

    def newest(self, workspace: Path) -> TaskInfo | None:
        """The task of a workspace that did something last; quickly told."""
        return self._controller.desk.newest(workspace)

    def info(self, task: str) -> TaskInfo | None:
        """What its log says of one task, by its whole id; quickly told."""
        return self._controller.desk.info(task)

    def find(self, name: str) -> str:
        """The whole id for the beginning or end of one. Raises TaskNotFound and UsageError."""
        return self._controller.find(name)

    async def label(self, command: cmd.Label) -> None:
        """Name or mark a task, also one that another process writes. Raises TaskBusy when that lets nobody in."""
        await self._controller.label(command, self.name)

    def delete(self, task: str) -> None:
        """Put a task into the trash. Raises TaskBusy when a process has it open."""
        self._controller.desk.delete(task)

    def undelete(self, name: str) -> str:
        """Take a task out of the trash; gives its whole id. Raises TaskNotFound and UsageError."""
        return self._controller.desk.undelete(name)

    def deleted(self) -> list[tuple[TaskInfo, float]]:
        """What is in the trash, and since when (Unix seconds)."""
        return self._controller.desk.deleted()

    @property
    def kept_days(self) -> int:
        """For how long the trash keeps a task."""
        return self._controller.desk.days

    def forget(self, task: str) -> None:
        """Remove a task for good. Raises TaskBusy when a process has it open."""
        self._controller.desk.forget(task)

    def checkpoints(self, workspace: Path) -> ShadowGit:
        """The saved states of a workspace."""
        return self._controller.checkpoints(workspace)

    async def restore(self, workspace: Path, target: str) -> Restored:
        """Put files back to a checkpoint; the log of its task says so. Raises UsageError and HaloclineError."""
        return await self._controller.restore(workspace, target)

    async def replay(self, what: str, *, strict: bool = True, folder: Path | None = None) -> "Replay":
        """Run a recording (a file) or a task again; `folder` is where its tools run, None answers them as recorded.

        Raises:
            UsageError, TaskNotFound, RecordingDamaged
        """
        return await self._controller.replay(what, strict=strict, folder=folder)

    async def models(self) -> list[OfferedModel]:
        """The models that could be used here. Local servers are asked."""
        return await self._controller.models()

    async def refresh_models(self) -> "Refreshed":
        """Fetch the catalogue of models anew. Raises HaloclineError; then the old one stays."""
        return await self._controller.refresh_models()

    def job_tail(self, task: str, job: str) -> str:
        """The end of what a job printed. Raises ToolFailure when there is no such job."""
        return self._controller.job_tail(task, job)

    def remarks(self, task: str) -> tuple[str, ...]:
        """What a person should hear of an open task's model, skills and search engine; mostly nothing."""
        return self._controller.remarks(task)

    async def connection(self, model: str = "") -> "Connection":
        """How far the way to a model goes: the one that is named, or would be taken. Raises UsageError."""
        return await self._controller.connection(model)

    @property
    def accounts(self) -> "Accounts":
        """The providers' keys."""
        return self._controller.accounts

    def may_run_code(self, workspace: Path) -> bool:
        """Whether a folder might have hooks of its own; quickly told."""
        return self._controller.may_run_code(workspace)

    def hooks_of(self, workspace: Path) -> "FolderHooks":
        """The hooks that are set up for a folder, and whether they may run."""
        return self._controller.hooks_of(workspace)

    async def close(self) -> None:
        await self._controller.close()
