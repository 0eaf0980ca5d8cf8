"""What a surface holds: one handle on the controller, under one name."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.protocol import commands as cmd
from halocline.protocol.errors import TaskNotFound
from halocline.protocol.events import DurableEvent, Event, Mode
from halocline.protocol.jobs import JobInfo
from halocline.protocol.messages import UserPart
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.controller import Controller, TaskOptions

if TYPE_CHECKING:
    from halocline.checkpoints.restore.restore import Restored
    from halocline.ports.mcp import McpPrompt, McpStanding
    from halocline.protocol.messages import UserPart
    from halocline.protocol.queries.mentions import Mentioned
    from halocline.protocol.queries.usage import CacheReport, ContextReport
    from halocline.runtime.history.actions import TaskHistory
    from halocline.runtime.history.pending_edit import PendingEdit
    from halocline.runtime.history.snapshots import Snapshot
    from halocline.runtime.mentions.suggestions import Mentionable
    from halocline.runtime.models.connection_test import Connection
    from halocline.runtime.models.efforts import Efforts
    from halocline.runtime.prompts.command_files import Words
    from halocline.runtime.prompts.uploads import Handing
    from halocline.runtime.rules.hooks import FolderHooks
    from halocline.runtime.rules.memory import Memory
    from halocline.services.commits import Committing
    from halocline.services.models.accounts import Accounts
    from halocline.services.models.model_list import OfferedModel
    from halocline.services.replay.replay import Replay
    from halocline.services.settings import SettingsService
    from halocline.services.tasks import TaskService
    from halocline.store.web_sessions import Browsers as Browsers
    from halocline.task.stream import Caught


def open_client(choices: Choices, name: str = "cli", is_watched: Callable[[], bool] | None = None) -> "Client":
    """A client of a controller of its own, in this process. Raises UsageError and SettingsError.

    `is_watched` tells whether a person looks on now: while nobody does, an outage of the model is waited out.
    """
    assembly = Assembly.of(choices)
    assembly.is_watched = is_watched or assembly.is_watched
    return Client(Controller(assembly), name, is_watched)


if TYPE_CHECKING:
    from halocline.providers.catalog.refresh import Refreshed


ALL_TASKS = TaskQuery()


class Client:
    """A named way into the controller; `name` is written down with every decision it sends."""

    def __init__(self, controller: Controller, name: str, is_watched: Callable[[], bool] | None = None) -> None:
        self._controller = controller
        self._is_watched = is_watched
        self.name = name
        self.home = controller.home

    def named(self, name: str) -> "Client":
        """The same way in, under another name."""
        return Client(self._controller, name)

    async def start(self, workspace: Path, options: TaskOptions, name: str = "") -> str:
        """Begin a task and give its id, which is `name` for one that another task handed over to."""
        return await self._controller.start(workspace, options, name)

    async def let_go(self, task: str) -> None:
        """Close one open task, with its jobs. Raises what broke it."""
        if broke := await self._controller.let_go(task):
            raise broke

    async def ended(self, task: str) -> Exception | None:
        """Let go of a task whose events have ended. Gives what broke it, if anything did."""
        return await self._controller.let_go(task)

    async def resume(self, task: str, options: TaskOptions) -> str:
        return await self._controller.resume(task, options)

    async def join(self, task: str, options: TaskOptions, *, while_asked: bool = False) -> str:
        """Join a task that another process writes; when that one ends, an attended task goes on here.

        `while_asked`: only where a person is asked something, or has sent something that nobody took.

        Raises:
            TaskNotFound, TaskBusy, UsageError
        """
        return await self._controller.join(task, options, self.name, while_asked=while_asked)

    def is_attached(self, task: str) -> bool:
        """Whether a task is joined that another process writes now; that changes when this one takes over."""
        return self._controller.is_attached(task)

    @property
    def _tasks(self) -> "TaskService":
        """Tasks that nobody has open here: their labels, lists and the trash."""
        from halocline.services.tasks import TaskService

        return TaskService(self.home, self._controller.settings.keep_deleted)

    def writer(self, task: str) -> str:
        """The pid of the process that has a task open; empty when none has."""
        return self._tasks.writer(task)

    def send(self, command: cmd.AnyCommand) -> bool:
        """Pass a command on. False when it came too late: somebody else decided, or nothing asks any more."""
        return self._controller.send(replace(command, client=self.name))

    async def prepared(self, command: cmd.SubmitPrompt) -> cmd.SubmitPrompt:
        """The same with what its words became, for `send`: their files are read in a thread. Raises UsageError."""
        return await self._controller.prepared(command)

    async def pass_on(self, command: cmd.AnyCommand) -> bool:
        """The same as `send`; the words of a prompt are read first, in a thread. Raises UsageError."""
        return await self._controller.pass_on(replace(command, client=self.name))

    def events(self, task: str, after: int = 0) -> AsyncIterator[Event]:
        """The past after `after`, then the live tail, without a gap."""
        return self._controller.events(task, after)

    def is_open(self, task: str) -> bool:
        """Whether a task is open in this process, or joined."""
        return self._controller.stream(task) is not None

    def live(self, task: str, after: int = 0) -> "AsyncIterator[Event | Caught]":
        """The events of an open task, and a tuple wherever the past ends: what goes on there now, said anew.

        Raises TaskNotFound.
        """
        if (stream := self._controller.stream(task)) is None:
            raise TaskNotFound(f"Task {task} is not open here.", "Resume it first.")
        from halocline.runtime.history.previews import add_previews

        return add_previews(stream.with_catching_up(after), lambda: self.state(task), self.home)

    def previewed(self, task: str, after: int = 0) -> AsyncIterator[Event]:
        """The same of an open task, with an `EditPreviewed` for each line of an edit that is being written."""
        return self._controller.previewed(task, after)

    def words(self, workspace: Path) -> "Words":
        """The slash commands that a workspace has."""
        return self._controller.words(workspace)

    async def change_model(self, task: str, model: str) -> None:
        """Ask another model from now on. Raises UsageError, also while a turn runs."""
        await self._controller.change_model(task, model)

    def efforts(self, model: str, mode: Mode) -> "Efforts":
        """How hard a model can be told to think, and what holds unless a task says otherwise."""
        return self._controller.efforts(model, mode)

    def state(self, task: str) -> State:
        return self._controller.state(task)

    def past(self, task: str) -> list[DurableEvent]:
        """All that was written of a task, open or not."""
        return self._controller.past(task)

    def without_secrets(self, text: str) -> str:
        """A text that leaves this home, without the secrets that are known here or by their form or name."""
        return self._controller.without_secrets(text)

    def jobs(self, task: str) -> tuple[JobInfo, ...]:
        """The commands that an open task let go on, and those of them that ended lately."""
        return self._controller.jobs(task)

    async def fresh(self, workspace: Path, options: TaskOptions) -> State:
        """What a task would know that began here now, just before its first prompt. Raises as `start` does."""
        from halocline.services.context_report import fresh_state

        return await fresh_state(self._controller.assembly, workspace, options)

    def context(self, task: str | State) -> "ContextReport":
        """What the next request of a task would hold, and what it costs; a task by name, open or not, or its state."""
        from halocline.services.context_report import context_of

        if isinstance(task, str):
            task = self.state(task) if self.is_open(task) else fold_events(self.past(task))
        return context_of(self._controller.assembly, task)

    def cache(self, task: str) -> "CacheReport":
        """How a task's requests used the provider's cache, and why they did not."""
        from halocline.services.context_report import cache_of

        return cache_of(self._controller.assembly, self.past(task))

    async def mentioned(self, task: str, text: str) -> "tuple[Mentioned, ...]":
        """What a text for an open task mentions by `@`, and about how many tokens each will be."""
        return await self._controller.mentioned(task, text)

    async def attach(self, task: str, name: str, data: bytes) -> "tuple[UserPart, ...]":
        """A picture as parts of a prompt for an open task. Raises UsageError."""
        return await self._controller.handing.picture(self.state(task).model, name, data)

    async def mentionable(self, task: str) -> "Mentionable":
        """What can be mentioned in an open task: its files, commits and the other tasks of its folder."""
        if self.is_attached(task):
            state = self.state(task)
            return await self.handing.mentionable_in(Path(state.workspace), task, state.roots)
        return await self.handing.mentionable(task)

    @property
    def handing(self) -> "Handing":
        """Files for prompts, pictures that are kept, and what can be mentioned where no task is open."""
        return self._controller.handing

    @property
    def browsers(self) -> "Browsers":
        """The browsers that are signed in to the web page of this home."""
        from halocline.store.web_sessions import Browsers

        return Browsers(self.home.browsers)

    @property
    def settings(self) -> "SettingsService":
        """The settings, to look at and to change; what is open goes on with those it began with."""
        import os

        from halocline.services.settings import SettingsService

        return SettingsService(self.home, os.environ)

    def reload(self, choices: Choices) -> None:
        """Read the settings again, for what begins from now on. Raises SettingsError; then the old ones stay."""
        assembly = Assembly.of(choices)
        assembly.is_watched = self._is_watched or assembly.is_watched
        self._controller.rewire(assembly)

    def history(self, query: TaskQuery = ALL_TASKS) -> list[TaskInfo]:
        """The tasks of this home that are asked for; the newest first, or the best when words are."""
        return self._tasks.chosen(query)

    def newest(self, workspace: Path) -> TaskInfo | None:
        """The task of a workspace that did something last; quickly told."""
        return self._tasks.newest(workspace)

    def info(self, task: str) -> TaskInfo | None:
        """What its log says of one task, by its whole id; quickly told."""
        return self._tasks.info(task)

    def find(self, name: str) -> str:
        """The whole id for the beginning or end of one. Raises TaskNotFound and UsageError."""
        return self._controller.find(name)

    async def label(self, command: cmd.Label) -> None:
        """Name or mark a task, also one that another process writes. Raises TaskBusy when that lets nobody in."""
        try:
            self.send(command)
        except TaskNotFound:  # it is not open here
            await self._tasks.label(command, self.name)

    def delete(self, task: str) -> None:
        """Put a task into the trash. Raises TaskBusy when a process has it open."""
        self._tasks.delete(task)

    def undelete(self, name: str) -> str:
        """Take a task out of the trash; gives its whole id. Raises TaskNotFound and UsageError."""
        return self._tasks.undelete(name)

    def deleted(self) -> list[tuple[TaskInfo, float]]:
        """What is in the trash, and since when (Unix seconds)."""
        return self._tasks.deleted()

    @property
    def shows_foreign(self) -> tuple[bool, bool]:
        """Whether results of MCP servers are shown as Markdown, and whether only their beginning is."""
        wishes = self._controller.settings.mcp
        return wishes.display == "markdown", wishes.collapse

    def discard(self, name: str) -> None:
        """Remove a task of the trash for good. Raises TaskNotFound and UsageError."""
        self._tasks.discard(name)

    @property
    def kept_days(self) -> int:
        """For how long the trash keeps a task."""
        return self._tasks.days

    def forget(self, task: str) -> None:
        """Remove a task for good. Raises TaskBusy when a process has it open."""
        self._tasks.forget(task)

    def half_restored(self) -> list[str]:
        """The folders in which a restore was cut short."""
        from halocline.checkpoints.store.stores import half_restored

        return half_restored(self._controller.home.checkpoints)

    def checkpoints(self, workspace: Path) -> ShadowGit:
        """The saved states of a workspace."""
        return self._controller.checkpoints(workspace)

    @property
    def time(self) -> "TaskHistory":
        """The past of tasks: look at a moment, compare, go back, go on from it as another task."""
        return self._controller.time

    @property
    def committing(self) -> "Committing":
        """Commits of what tasks changed, by the project's own git."""
        from halocline.services.commits import Committing

        chosen = self._controller
        return Committing(self.time, self._tasks, chosen.key_variables, chosen.settings.pass_environment)

    def at(self, task: str, seq: int) -> "Snapshot":
        """A task as it was after event `seq`. Raises TaskNotFound and UsageError."""
        return self.time.at(task, seq)

    async def restore(self, workspace: Path, target: str, *, overwrite: bool = False) -> "Restored":
        """Put files back to a checkpoint or a `TASK@EVENT`; the log of its task says so.

        What somebody else changed since stays, unless `overwrite`. Raises UsageError and HaloclineError.
        """
        return await self.time.restore(workspace, target, overwrite=overwrite)

    async def replay(self, what: str, *, strict: bool = True, folder: Path | None = None) -> "Replay":
        """Run a recording (a file) or a task again; `folder` is where its tools run, None answers them as recorded.

        Raises:
            UsageError, TaskNotFound, RecordingDamaged
        """
        from halocline.services.replay.replay import recording_of, run_replay

        return await run_replay(recording_of(what, self.past), self._controller.assembly, strict=strict, folder=folder)

    async def models(self) -> "list[OfferedModel]":
        """The models that could be used here. Local servers are asked."""
        from halocline.services.models.model_list import offered_models

        assembly = self._controller.assembly
        return await offered_models(assembly.settings, assembly.keys, assembly.catalogue)

    async def refresh_models(self) -> "Refreshed":
        """Fetch the catalogue of models anew. Raises HaloclineError; then the old one stays."""
        return await self._controller.refresh_models()

    def running(self, task: str) -> tuple[str, ...]:
        """The commands of an open task that still go on; they end with it."""
        if self.is_attached(task):
            return ()
        own = (running.command for running in self.state(task).own_commands)
        return (*own, *(job.command for job in self.jobs(task) if job.state != "ended"))

    def only_model(self, task: str) -> str:
        """The name of an open task's model; empty when each mode has its own."""
        return self._controller.only_model(task)

    def job_tail(self, task: str, job: str) -> str:
        """The end of what a job printed. Raises ToolFailure when there is no such job."""
        return self._controller.job_tail(task, job)

    def mcp_prompts(self, task: str) -> "list[McpPrompt]":
        """The prompts of an open task's MCP servers, for menus; each has its `command`, without the slash."""
        mcp = self._controller.mcp(task)
        return mcp.prompts() if mcp else []

    def mcp_standings(self, task: str) -> "list[McpStanding]":
        """How it stands with an open task's MCP servers."""
        mcp = self._controller.mcp(task)
        return mcp.standings() if mcp else []

    async def mcp_prompt(self, task: str, typed: str) -> tuple[UserPart, ...]:
        """What `/mcp:server:prompt values` puts ahead of itself in a prompt, which is then `verbatim`.

        Raises:
            UsageError
        """
        from halocline.runtime.prompts.mcp_prompts import expand_mcp_prompt

        return await expand_mcp_prompt(self._controller.mcp(task), typed)

    async def meanwhile(self, task: str, request: str) -> "PendingEdit":
        """What became of the files of an edit since it was shown for approval; that is told where the task runs."""
        from halocline.runtime.history.pending_edit import PendingEdit, inspect_edit

        if self.is_attached(task) or not self.is_open(task):
            return PendingEdit()
        return await inspect_edit(self._controller.task(task), request)

    def remarks(self, task: str) -> tuple[str, ...]:
        """What a person should hear of an open task's model, skills and search engine; mostly nothing."""
        return self._controller.remarks(task)

    async def connection(self, model: str = "") -> "Connection":
        """How far the way to a model goes: the one that is named, or would be taken. Raises UsageError."""
        from halocline.runtime.models.connection_test import check_connection

        chosen = self._controller.assembly
        return await check_connection(model, chosen.settings, chosen.env, chosen.keys, chosen.blobs, chosen.catalogue)

    @property
    def accounts(self) -> "Accounts":
        """The providers' keys."""
        from halocline.services.models.accounts import accounts_of

        return accounts_of(self._controller.assembly)

    def with_code(self, workspace: Path, wanted: Sequence[str], known: Sequence[str] | None) -> list[Path]:
        """Those of a task's folders that might have hooks or MCP servers of their own that run; quickly told.

        Further folders are those that are `wanted`, and the `known` ones; None: the task begins, as the settings say.
        Raises UsageError.
        """
        from halocline.runtime.rules.workspace_roots import with_code

        return with_code(workspace, wanted, self._controller.settings, known)

    def rule_problems(self, workspace: Path) -> tuple[str, ...]:
        """Which files of rules cannot be read in a workspace, and why."""
        return self._controller.rule_problems(workspace)

    def hooks_of(self, workspace: Path) -> "FolderHooks":
        """The hooks that are set up for a folder, and whether they may run."""
        return self._controller.hooks_of(workspace)

    def memory_of(self, workspace: Path) -> "Memory":
        """The notes for tasks in a folder."""
        from halocline.runtime.rules.memory import Memory

        return Memory(workspace, self._controller.home.memory, on=self._controller.settings.memory)

    async def close(self) -> None:
        await self._controller.close()
