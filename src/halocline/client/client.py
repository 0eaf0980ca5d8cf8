"""The Python client: start, watch and steer tasks in this process. Every surface works through it."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.protocol import commands as cmd
from halocline.protocol.errors import TaskNotFound
from halocline.protocol.events import DurableEvent, Event
from halocline.protocol.events.jobs import JobInfo
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import UserPart
from halocline.protocol.queries.tasks import TaskInfo, TaskQuery
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.controller import Controller, TaskOptions
from halocline.runtime.rules.workspace_roots import with_code

if TYPE_CHECKING:
    from halocline.checkpoints.restore.restore import Restored
    from halocline.ports.mcp import McpPrompt, McpStanding
    from halocline.protocol.events.mentions import Mentioned
    from halocline.protocol.messages import UserPart
    from halocline.protocol.queries.usage import CacheReport, ContextReport
    from halocline.runtime.history.actions import TaskHistory
    from halocline.runtime.history.pending_edit import PendingEdit
    from halocline.runtime.history.snapshots import Snapshot
    from halocline.runtime.mentions.suggestions import Mentionable
    from halocline.runtime.models.connection_test import ModelConnection
    from halocline.runtime.models.efforts import Efforts
    from halocline.runtime.prompts.command_files import SlashEntries
    from halocline.runtime.prompts.uploads import Handing
    from halocline.runtime.rules.hooks import FolderHooks
    from halocline.runtime.rules.memory import Memory
    from halocline.services.commits import Committing
    from halocline.services.models.accounts import Accounts
    from halocline.services.models.model_list import OfferedModel
    from halocline.services.replay.replay import Replay
    from halocline.services.settings import SettingsService
    from halocline.services.tasks import TaskService
    from halocline.store.web_sessions import Browsers
    from halocline.task.stream import Caught


def open_client(choices: Choices, name: str = "cli", is_watched: Callable[[], bool] | None = None) -> "Client":
    """Return a client with its own controller, in this process. Raises UsageError and SettingsError.

    `is_watched` returns True while a person is watching. When it returns False, a model outage is waited out
    instead of ending the turn.
    """
    assembly = Assembly.of(choices)
    assembly.is_watched = is_watched or assembly.is_watched
    return Client(Controller(assembly), name, is_watched)


if TYPE_CHECKING:
    from halocline.providers.catalog.refresh import Refreshed


ALL_TASKS = TaskQuery()


class Client:
    """A handle on the controller. `name` is recorded with every command it sends."""

    def __init__(self, controller: Controller, name: str, is_watched: Callable[[], bool] | None = None) -> None:
        self._controller = controller
        self._is_watched = is_watched
        self.name = name
        self.home = controller.home

    def named(self, name: str) -> "Client":
        """Return a client of the same controller under another name."""
        return Client(self._controller, name)

    async def start(self, workspace: Path, options: TaskOptions, name: str = "") -> str:
        """Start a task and return its id; `name` sets the id when another task hands over to this one."""
        return await self._controller.start(workspace, options, name)

    async def let_go(self, task: str) -> None:
        """Close an open task and its jobs. Raises the error that broke it, if there was one."""
        if broke := await self._controller.let_go(task):
            raise broke

    async def ended(self, task: str) -> Exception | None:
        """Close a task whose events have ended. Return the error that broke it, or None."""
        return await self._controller.let_go(task)

    async def resume(self, task: str, options: TaskOptions) -> str:
        """Resume a task and return its full id. Raises TaskNotFound, TaskBusy, LogDamaged and UsageError."""
        return await self._controller.resume(task, options)

    async def join(self, task: str, options: TaskOptions, *, while_asked: bool = False) -> str:
        """Attach to a task that another process runs; when that process ends, an attended task continues here.

        With `while_asked` it continues here only if it waits for an answer, or a command you sent was not delivered.

        Raises:
            TaskNotFound, LogDamaged
            TaskBusy: the other process refuses peers.
            UsageError: no process runs the task, and it is not attended here.
        """
        return await self._controller.join(task, options, self.name, while_asked=while_asked)

    def is_attached(self, task: str) -> bool:
        """True if another process runs the task now. It turns False when this process takes over."""
        return self._controller.is_attached(task)

    @property
    def _tasks(self) -> "TaskService":
        """Tasks that are not open here: their labels, lists and the trash."""
        from halocline.services.tasks import TaskService

        return TaskService(self.home, self._controller.settings.keep_deleted)

    def writer(self, task: str) -> str:
        """Return the pid of the process that has a task open, or an empty string."""
        return self._tasks.writer(task)

    def send(self, command: cmd.AnyCommand) -> bool:
        """Send a command. Return False if it came too late: another client decided, or the request is closed."""
        return self._controller.send(replace(command, client=self.name))

    async def prepared(self, command: cmd.SubmitPrompt) -> cmd.SubmitPrompt:
        """Expand the slash commands in a prompt, ready for `send`; files are read in a thread.

        Raises UsageError.
        """
        return await self._controller.prepared(command)

    async def pass_on(self, command: cmd.AnyCommand) -> bool:
        """Prepare a command (see `prepared`), then send it. Raises UsageError."""
        return await self._controller.pass_on(replace(command, client=self.name))

    def events(self, task: str, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events after sequence number `after`, then live ones, without a gap."""
        return self._controller.events(task, after)

    def is_open(self, task: str) -> bool:
        """True if the task is open in this process, or attached."""
        return self._controller.stream(task) is not None

    def live(self, task: str, after: int = 0) -> "AsyncIterator[Event | Caught]":
        """Yield the events of an open task. Where the past ends, yield a tuple that repeats what is in progress.

        Raises TaskNotFound.
        """
        if (stream := self._controller.stream(task)) is None:
            raise TaskNotFound(f"Task {task} is not open here.", "Resume it first.")
        from halocline.runtime.history.previews import add_previews

        return add_previews(stream.with_catching_up(after), lambda: self.state(task), self.home)

    def previewed(self, task: str, after: int = 0) -> AsyncIterator[Event]:
        """Yield events as `events` does, plus an `EditPreviewed` for each line of an edit while it is written."""
        return self._controller.previewed(task, after)

    def words(self, workspace: Path) -> "SlashEntries":
        """Return the slash commands of a workspace."""
        return self._controller.words(workspace)

    async def change_model(self, task: str, model: str) -> None:
        """Switch an open task to another model. Raises UsageError, also while a turn runs."""
        await self._controller.change_model(task, model)

    def efforts(self, model: str, mode: Mode) -> "Efforts":
        """Return the reasoning efforts that a model supports, and the defaults for a mode."""
        return self._controller.efforts(model, mode)

    def state(self, task: str) -> State:
        """Return the current state of an open task."""
        return self._controller.state(task)

    def past(self, task: str) -> list[DurableEvent]:
        """Return all durable events of a task, open or not."""
        return self._controller.past(task)

    def without_secrets(self, text: str) -> str:
        """Redact a text that leaves this home: known secrets, and values that look like one or are named as one."""
        return self._controller.without_secrets(text)

    def jobs(self, task: str) -> tuple[JobInfo, ...]:
        """Return an open task's background commands, including those that ended recently."""
        return self._controller.jobs(task)

    async def fresh(self, workspace: Path, options: TaskOptions) -> State:
        """Return the state a new task would have just before its first prompt. Raises as `start` does."""
        from halocline.services.context_report import fresh_state

        return await fresh_state(self._controller.assembly, workspace, options)

    def context(self, task: str | State) -> "ContextReport":
        """Report what a task's next request would contain and cost. Takes a task's id, open or not, or a state."""
        from halocline.services.context_report import context_of

        if isinstance(task, str):
            task = self.state(task) if self.is_open(task) else fold_events(self.past(task))
        return context_of(self._controller.assembly, task)

    def cache(self, task: str) -> "CacheReport":
        """Report how a task's requests used the provider's cache, with the reasons for misses."""
        from halocline.services.context_report import cache_of

        return cache_of(self._controller.assembly, self.past(task))

    async def mentioned(self, task: str, text: str) -> "tuple[Mentioned, ...]":
        """Return the `@` mentions in a text for an open task, each with its approximate token count."""
        return await self._controller.mentioned(task, text)

    async def attach(self, task: str, name: str, data: bytes) -> "tuple[UserPart, ...]":
        """Turn an image into prompt parts for an open task. Raises UsageError."""
        return await self._controller.handing.picture(self.state(task).model.name, name, data)

    async def mentionable(self, task: str) -> "Mentionable":
        """Return what can be mentioned in an open task: files, commits and other tasks of its folder."""
        if self.is_attached(task):
            state = self.state(task)
            return await self.handing.mentionable_in(Path(state.workspace), task, state.roots)
        return await self.handing.mentionable(task)

    @property
    def handing(self) -> "Handing":
        """Uploads for prompts, stored images, and mentions where no task is open."""
        return self._controller.handing

    @property
    def browsers(self) -> "Browsers":
        """The browsers signed in to this home's web page."""
        from halocline.store.web_sessions import Browsers

        return Browsers(self.home.browsers)

    @property
    def settings(self) -> "SettingsService":
        """Read and change the settings. Open tasks keep the settings they started with."""
        import os

        from halocline.services.settings import SettingsService

        return SettingsService(self.home, os.environ)

    def reload(self, choices: Choices) -> None:
        """Reload the settings for tasks that start from now on. Raises SettingsError and then keeps the old ones."""
        assembly = Assembly.of(choices)
        assembly.is_watched = self._is_watched or assembly.is_watched
        self._controller.rewire(assembly)

    def history(self, query: TaskQuery = ALL_TASKS) -> list[TaskInfo]:
        """Return the tasks that match a query, newest first, or best match first if it has search words."""
        return self._tasks.chosen(query)

    def newest(self, workspace: Path) -> TaskInfo | None:
        """Return the most recently active task of a workspace; quick, as it stops at the first one that fits."""
        return self._tasks.newest(workspace)

    def info(self, task: str) -> TaskInfo | None:
        """Return the summary of one task by its full id; quick."""
        return self._tasks.info(task)

    def find(self, name: str) -> str:
        """Return the full id for the start or end of one. Raises TaskNotFound and UsageError."""
        return self._controller.find(name)

    async def label(self, command: cmd.Label) -> None:
        """Rename or mark a task, even if another process runs it. Raises TaskBusy if that process refuses peers."""
        try:
            self.send(command)
        except TaskNotFound:  # it is not open here
            await self._tasks.label(command, self.name)

    def delete(self, task: str) -> None:
        """Move a task to the trash. Raises TaskBusy if a process has it open."""
        self._tasks.delete(task)

    def undelete(self, name: str) -> str:
        """Restore a task from the trash and return its full id. Raises TaskNotFound and UsageError."""
        return self._tasks.undelete(name)

    def deleted(self) -> list[tuple[TaskInfo, float]]:
        """Return the tasks in the trash, each with the time it was deleted (Unix seconds)."""
        return self._tasks.deleted()

    @property
    def shows_foreign(self) -> tuple[bool, bool]:
        """Two booleans: show results of MCP servers as Markdown, and show only their beginning."""
        mcp = self._controller.settings.mcp
        return mcp.display == "markdown", mcp.collapse

    def discard(self, name: str) -> None:
        """Permanently delete a task that is in the trash. Raises TaskNotFound and UsageError."""
        self._tasks.discard(name)

    @property
    def kept_days(self) -> int:
        """Days for which the trash keeps a task."""
        return self._tasks.days

    def forget(self, task: str) -> None:
        """Permanently delete a task. Raises TaskBusy if a process has it open."""
        self._tasks.forget(task)

    def half_restored(self) -> list[str]:
        """Return the folders in which a restore was interrupted."""
        from halocline.checkpoints.store.stores import half_restored

        return half_restored(self._controller.home.checkpoints)

    def checkpoints(self, workspace: Path) -> ShadowGit:
        """Return the checkpoints of a workspace."""
        return self._controller.checkpoints(workspace)

    @property
    def time(self) -> "TaskHistory":
        """History of tasks: inspect a point in time, compare, rewind, fork."""
        return self._controller.time

    @property
    def committing(self) -> "Committing":
        """Commit what tasks changed, with the project's own git."""
        from halocline.services.commits import Committing

        chosen = self._controller
        return Committing(self.time, self._tasks, chosen.key_variables, chosen.settings.pass_environment)

    def at(self, task: str, seq: int) -> "Snapshot":
        """Return a task as it was after event `seq`. Raises TaskNotFound and UsageError."""
        return self.time.at(task, seq)

    async def restore(self, workspace: Path, target: str, *, overwrite: bool = False) -> "Restored":
        """Restore files to a checkpoint or a `TASK@EVENT`, and record it in the task's log.

        Changes made by anyone else since then stay, unless `overwrite`. Raises UsageError and HaloclineError.
        """
        return await self.time.restore(workspace, target, overwrite=overwrite)

    async def replay(self, what: str, *, strict: bool = True, folder: Path | None = None) -> "Replay":
        """Replay a recording (a file) or a task. Tools run in `folder`; with None they return what was recorded.

        Raises:
            UsageError, TaskNotFound, RecordingDamaged
        """
        from halocline.services.replay.replay import recording_of, run_replay

        return await run_replay(recording_of(what, self.past), self._controller.assembly, strict=strict, folder=folder)

    async def models(self) -> "list[OfferedModel]":
        """Return the models that can be used here. Queries local model servers."""
        from halocline.services.models.model_list import offered_models

        assembly = self._controller.assembly
        return await offered_models(assembly.settings, assembly.keys, assembly.catalogue)

    async def refresh_models(self) -> "Refreshed":
        """Download the model catalogue again. Raises HaloclineError and then keeps the old one."""
        return await self._controller.refresh_models()

    def running(self, task: str) -> tuple[str, ...]:
        """Return an open task's commands that still run. They end with the task."""
        if self.is_attached(task):
            return ()
        own = (running.command for running in self.state(task).user_commands.running)
        return (*own, *(job.command for job in self.jobs(task) if job.state != "ended"))

    def only_model(self, task: str) -> str:
        """Return the name of an open task's model; empty if each mode has its own."""
        return self._controller.only_model(task)

    def job_tail(self, task: str, job: str) -> str:
        """Return the end of a job's output. Raises ToolFailure if there is no such job."""
        return self._controller.job_tail(task, job)

    def mcp_prompts(self, task: str) -> "list[McpPrompt]":
        """Return the prompts of an open task's MCP servers. `command` has no leading slash."""
        mcp = self._controller.mcp(task)
        return mcp.prompts() if mcp else []

    def mcp_standings(self, task: str) -> "list[McpStanding]":
        """Return the status of an open task's MCP servers."""
        mcp = self._controller.mcp(task)
        return mcp.standings() if mcp else []

    async def mcp_prompt(self, task: str, typed: str) -> tuple[UserPart, ...]:
        """Return the parts that `/mcp:server:prompt values` inserts before itself; send that prompt `verbatim`.

        Raises:
            UsageError
        """
        from halocline.runtime.prompts.mcp_prompts import expand_mcp_prompt

        return await expand_mcp_prompt(self._controller.mcp(task), typed)

    async def check_edit_conflict(self, task: str, request: str) -> "PendingEdit":
        """Check whether files of an edit changed since it was shown for approval. Works only where the task runs."""
        from halocline.runtime.history.pending_edit import PendingEdit, inspect_edit

        if self.is_attached(task) or not self.is_open(task):
            return PendingEdit()
        return await inspect_edit(self._controller.task(task), request)

    def remarks(self, task: str) -> tuple[str, ...]:
        """Return notices about an open task's model, skills and search engine; usually none."""
        return self._controller.remarks(task)

    async def connection(self, model: str = "") -> "ModelConnection":
        """Test the connection to a model, by default the one a new task would use. Raises UsageError."""
        from halocline.runtime.models.connection_test import check_connection

        chosen = self._controller.assembly
        return await check_connection(model, chosen.settings, chosen.env, chosen.keys, chosen.blobs, chosen.catalogue)

    @property
    def accounts(self) -> "Accounts":
        """API keys of the providers."""
        from halocline.services.models.accounts import accounts_of

        return accounts_of(self._controller.assembly)

    def with_code(self, workspace: Path, wanted: Sequence[str], known: Sequence[str] | None) -> list[Path]:
        """Return the task's folders that may have their own hooks or MCP servers. A quick check.

        In addition to the workspace, it checks the `wanted` folders and the `known` ones. With `known` None it is a new
        task, which takes them from the settings. Raises UsageError.
        """
        return with_code(workspace, wanted, self._controller.settings, known)

    def rule_problems(self, workspace: Path) -> tuple[str, ...]:
        """Return why rule files of a workspace cannot be read; empty if all can."""
        return self._controller.rule_problems(workspace)

    def hooks_of(self, workspace: Path) -> "FolderHooks":
        """Return the hooks configured for a folder, and whether they may run."""
        return self._controller.hooks_of(workspace)

    def memory_of(self, workspace: Path) -> "Memory":
        """Return the memory for tasks in a folder."""
        from halocline.runtime.rules.memory import Memory

        return Memory(workspace, self._controller.home.memory, on=self._controller.settings.memory)

    async def close(self) -> None:
        """Interrupt what runs, end every turn and close all tasks. Raises the error that broke one."""
        await self._controller.close()
