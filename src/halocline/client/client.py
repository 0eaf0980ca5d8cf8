"""The Python client: start, watch and steer tasks in this process. Every surface works through it.

Queries on tasks are in `runtime.task_queries`. What people administer is behind one property per service.
"""

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from halocline import checkpoints, runtime, services
from halocline.context import user_files
from halocline.protocol import commands as cmd
from halocline.protocol.errors import TaskNotFound, UsageError
from halocline.protocol.events import DurableEvent
from halocline.protocol.events.subagents import SubagentStarted
from halocline.protocol.state.reducer import fold_events
from halocline.protocol.state.state import State
from halocline.runtime import prompts, rules
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.controller import Controller
from halocline.runtime.rules.workspace_roots import with_code
from halocline.runtime.task_options import TaskOptions
from halocline.runtime.task_queries import TaskQueries
from halocline.store.paths import Home
from halocline.task.lock import LOCK_NAME, has_holder

if TYPE_CHECKING:
    from halocline.context.user_files.agents import Found
    from halocline.ports.editor_models import EditorModels
    from halocline.ports.model import Model
    from halocline.protocol.events.plugins import Plugin
    from halocline.protocol.messages import UserPart
    from halocline.protocol.queries.usage import CacheReport, ContextReport
    from halocline.runtime.history.actions import TaskHistory
    from halocline.runtime.mentions.suggestions import Mentionable
    from halocline.store.settings.sections import TerminalSettings
    from halocline.store.themes import Theme

C = TypeVar("C", bound=cmd.Command)


def open_client(
    choices: Choices,
    name: str = "cli",
    is_watched: Callable[[], bool] | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    home: Home | None = None,
) -> "Client":
    """Return a client with its own controller, in this process. Raises UsageError and SettingsError.

    `is_watched`: a person is watching; otherwise a model outage is waited out. `folder`: the person's, see `work_in`.
    Keys, settings and commands take their variables from `environment`; `home` is another one than that of these.
    """
    assembly = Assembly.of(choices, environment, home=home)
    assembly.shared.environment = environment
    assembly.is_watched = is_watched or assembly.is_watched
    return Client(Controller(assembly, (folder or Path(),)), name, is_watched)


class Client(TaskQueries):
    """A handle on the controller. `name` is recorded with every command it sends."""

    def __init__(self, controller: Controller, name: str, is_watched: Callable[[], bool] | None = None) -> None:
        super().__init__(controller)
        self._is_watched = is_watched
        self.name = name
        self.start = controller.start  # these need no name
        self.resume = controller.resume
        self.prepared = controller.prepared
        self.words = controller.words
        self.close = controller.close
        self.ended = controller.let_go
        self.closes_network: Callable[[], bool] = lambda: controller.assemblies.own.settings.closes_network

    def named(self, name: str) -> "Client":
        """Return a client of the same controller under another name."""
        return Client(self._controller, name)

    def build_redactor(self) -> Callable[[str], str]:
        """Return what replaces keys in texts for others to read. It knows those of now: build one for each export."""
        return self._controller.assemblies.own.secrets.build_redactor_for_others()

    def send_spans(self, task: str) -> int:
        """Send a task and its sub-agents to a collector of traces, as they would have been while they ran.

        Return the number of spans. Raises UsageError and TaskNotFound.
        """
        logs, own = self._read_tree(task), self._controller.assemblies.own
        return runtime.traces.send_logs(logs, self.build_redactor(), own.env, contents=own.settings.trace_contents)

    def _read_tree(self, task: str) -> Iterator[list[DurableEvent]]:
        """Yield the events of a task, and of its sub-agents as far as their logs are there."""
        yield (past := self.past(task))
        for child in {event.child for event in past if isinstance(event, SubagentStarted)}:
            with suppress(TaskNotFound):
                yield from self._read_tree(child)

    async def collect_report(self, task: str, workspace: Path) -> "tuple[services.report.Part, ...]":
        """Collect what a bundle about a task has, without keys. Raises TaskNotFound."""
        return await services.report.collect_report(self._controller.assemblies.own, self.past(task), workspace)

    def attach_editor(self, state: "Callable[[], cmd.EditorState | None]") -> None:
        """Tell the model with each prompt what is open in an editor. Paths are absolute."""
        self._controller.editor = state

    def attach_models(self, models: "EditorModels") -> None:
        """Offer the models of an editor, to all tasks of this process."""
        self._controller.assemblies.own.shared.editor_models = models

    def attach_model(self, model: "Model") -> None:
        """Offer a model of the program's own under its name, to all tasks of this process."""
        self._controller.assemblies.own.shared.given_models[model.name] = model

    def keep_pace_with(self, other: "Client") -> None:
        """Ask models at one pace with the tasks of another client: what a server refuses to one, both know."""
        self._controller.assemblies.own.shared.paces = other._controller.assemblies.own.shared.paces

    async def let_go(self, task: str) -> None:
        """Close an open task and its jobs. Raises the error that broke it, if there was one."""
        if broke := await self.ended(task):
            raise broke

    async def join(self, task: str, options: TaskOptions, *, while_asked: bool = False) -> str:
        """Attach to a task that another process runs; when that process ends, an attended task continues here.

        With `while_asked` it continues here only if it waits for an answer, or a command you sent was not delivered.

        Raises:
            TaskNotFound, LogDamaged
            TaskBusy: the other process refuses peers.
            UsageError: no process runs the task, and it is not attended here.
        """
        return await self._controller.join(task, options, self.name, while_asked=while_asked)

    def send(self, command: cmd.AnyCommand) -> bool:
        """Send a command. Return False if it came too late: another client decided, or the request is closed.

        Raises UsageError if a field of it has a value that it cannot have.
        """
        return self._controller.send(self._sign(command))

    async def pass_on(self, command: cmd.AnyCommand) -> bool:
        """Prepare a command (see `prepared`), then send it. Raises UsageError."""
        return await self._controller.pass_on(self._sign(command))

    async def deliver(self, command: cmd.AnyCommand) -> None:
        """Prepare and send a command; if another process runs the task, wait until it has taken it.

        A prompt whose turn has a name is taken when the turn begins. If the process ends before that, the prompt goes
        to the process that runs the task next.

        Raises:
            UsageError: the command was refused, or came too late.
            TaskBusy: the process that runs the task does not answer, or has ended.
        """
        named = self._sign(command)
        prepared = await self.prepared(named) if isinstance(named, cmd.SubmitPrompt) else named
        if attached := self._controller.attached(command.task):
            await attached.deliver(prepared)
        elif not self._controller.send(prepared):
            raise UsageError("Too late: this was already decided.", "")

    def _sign(self, command: C) -> C:
        return cmd.check_command(replace(command, client=self.name))

    def end_unanswered(self, task: str, request: str) -> None:
        """End the wait for a decision or an answer as if no one could give it. Raises UsageError."""
        self._controller.task(task).inbox.end_unanswered(request)

    def offer_answers(self, task: str) -> None:
        """Let requests of a task that was opened unattended wait for an answer from here. Raises UsageError."""
        self._controller.task(task).inbox.welcome()

    def withdraw_answers(self, task: str) -> None:
        """Answer no more: if no other client can, requests that wait end without an answer."""
        self._controller.task(task).inbox.dismiss()

    def abandon(self, task: str, *, leave_questions: bool = False) -> None:
        """Interrupt the running turn, drop the prompts that are queued, and accept no more. Raises UsageError.

        With `leave_questions`, a turn that waits for a person is left as it is: the next process asks again.
        """
        self._controller.task(task).inbox.abandon(leave_questions=leave_questions)

    async def label(self, command: cmd.Label) -> None:
        """Rename or mark a task, even if another process runs it. Raises TaskBusy if that process refuses peers."""
        try:
            self.send(command)
        except TaskNotFound:  # it is not open here
            await self.tasks.label(command, self.name)

    async def change_model(self, task: str, model: str) -> None:
        """Switch an open task to another model. Raises UsageError, also while a turn runs."""
        opened = self._controller.opened(task)
        await runtime.model_switch.change_model(opened, self._controller.assemblies.of_task(opened.task.state), model)

    async def ask_aside(self, task: str, question: str) -> AsyncIterator[str]:
        """Yield the answer to a side question as far as it is written; the conversation does not keep it.

        Raises:
            UsageError: another process runs the task, or no model is available.
            ModelError
        """
        if self.is_attached(task):
            raise UsageError("Another process runs this task.", "Ask the side question there.")
        opened = self._controller.task(task)
        open_model = self._controller.assemblies.of_task(opened.state).model
        answering = prompts.side_question.answer_side_question(opened, open_model, question)
        async with aclosing(answering) as answers:
            async for text in answers:
                yield text

    def reload(self, choices: Choices) -> None:
        """Read the settings and keys again, with these options. Raises SettingsError and then keeps the old ones."""
        assembly = Assembly.of(choices, home=self.home)
        assembly.is_watched = self._is_watched or assembly.is_watched
        self._controller.assemblies.replace(assembly)

    @property
    def tasks(self) -> "services.tasks.TaskService":
        """Tasks as a whole, open or not: their list, summaries and writers, and the trash."""
        days = self._controller.assemblies.own.settings.keep_deleted
        return services.tasks.TaskService(self.home, days, self._controller.here.adding())

    @property
    def may_have_background(self) -> bool:
        """False if no background process runs, and none was killed; quick."""
        return has_holder(self.home.background / LOCK_NAME)

    @property
    def background(self) -> "services.background.BackgroundService":
        """The process that runs tasks without a terminal."""
        return services.background.BackgroundService(self.home)

    @property
    def models(self) -> "services.models.service.ModelService":
        """Models that can be used, their connections, and the API keys of their providers."""
        return services.models.service.ModelService(self._controller.assemblies.own)

    @property
    def settings(self) -> "services.settings.SettingsService":
        """Read and change the settings. Open tasks take over limits and approvals, and keep the rest."""
        return services.settings.SettingsService(self.home, os.environ, themes=self.themes_in(self.home.root))

    def settings_in(
        self, workspace: Path, plugins: "Sequence[Plugin] | None" = None
    ) -> "services.settings.SettingsService":
        """Return the settings in force in a folder; with a task's `plugins`, their themes can be chosen."""
        layer = self._controller.assemblies.own.project_layer(workspace)
        themes = self.themes_in(workspace, plugins)
        return services.settings.SettingsService(self.home, os.environ, layer, themes)

    def themes_in(self, workspace: Path, plugins: "Sequence[Plugin] | None" = None) -> "services.themes.ThemeService":
        """Return the themes of the terminal, with those of a task's `plugins`, or of all in force in a folder."""

        def list_plugins() -> "Sequence[Plugin]":
            return self._controller.assemblies.of(workspace).list_plugins(workspace) if plugins is None else plugins

        explain = self.plugins_of(workspace).explain_absence
        return services.themes.ThemeService(self.terminal_settings.theme, list_plugins, explain)

    @property
    def own_theme(self) -> "Theme":
        """The theme of the settings where no task is shown; projects' plug-ins bring none there."""
        return self.themes_in(self.home.root).choose()[0]

    def themes_of(self, task: str) -> "services.themes.ThemeService":
        """Return the themes of the terminal, with those of a task's plug-ins. Raises TaskNotFound."""
        state = self.state(task)
        return self.themes_in(Path(state.workspace), state.prompt.plugins)

    def file_reader(self, task: str) -> "services.file_reader.FileReader":
        """Return the files of a task, open or not, as the person who looks at it may see them. Raises TaskNotFound."""
        state = self.state(task) if self.is_open(task) else self.tasks.folders(task)
        assembly = self._controller.assemblies.of_task(state)
        return services.file_reader.open_reader(state, assembly, self._files(task), lambda: self.past(task))

    @property
    def time(self) -> "TaskHistory":
        """History of tasks: inspect a point in time, compare, rewind, fork."""
        return self._controller.time

    @property
    def committing(self) -> "services.commits.Committing":
        """Commit what tasks changed, with the project's own git, and have messages written for it."""
        return services.commits.Committing(self.time, self.tasks, self._controller.assemblies.own)

    def worktrees_in(self, folder: Path) -> "services.worktrees.WorktreeService":
        """Return the worktrees of the repository around a folder."""
        return services.worktrees.WorktreeService(folder, self._controller.assemblies.own, self.tasks)

    @property
    def handing(self) -> "runtime.uploads.Handing":
        """Uploads for prompts, stored images, and mentions where no task is open."""
        return runtime.uploads.Handing(self._controller.assemblies.own, self._controller.task)

    async def attach(self, task: str, name: str, data: bytes) -> "tuple[UserPart, ...]":
        """Turn an image into prompt parts for an open task. Raises UsageError."""
        return await self.handing.picture(name, data)

    async def takes_images(self, task: str) -> bool:
        """True if the model of an open task accepts images; of others it gets only the names."""
        return await self.handing.takes_images(self.state(task).model.name)

    async def mentionable(self, task: str) -> "Mentionable":
        """Return what can be mentioned in an open task: files, commits and other tasks of its folder."""
        if self.is_attached(task):
            state = self.state(task)
            return await self.handing.mentionable_in(Path(state.workspace), task, state.roots)
        return await self.handing.mentionable(task)

    @property
    def _reports(self) -> "services.context_report.ContextService":
        return services.context_report.ContextService(self._controller.assemblies.own)

    async def fresh(self, workspace: Path, options: TaskOptions) -> State:
        """Return the state a new task would have just before its first prompt. Raises as `start` does."""
        return await self._reports.fresh(workspace, options)

    def context(self, task: str | State) -> "ContextReport":
        """Report what a task's next request would contain and cost. Takes a task's id, open or not, or a state."""
        if isinstance(task, str):
            task = self.state(task) if self.is_open(task) else fold_events(self.past(task))
        return self._reports.context_of(task)

    def cache(self, task: str) -> "CacheReport":
        """Report how a task's requests used the provider's cache, with the reasons for misses."""
        return self._reports.cache_of(self.past(task))

    async def replay(
        self, what: str, *, strict: bool = True, folder: Path | None = None
    ) -> "services.replay.replay.Replay":
        """Replay a recording (a file) or a task. Tools run in `folder`; with None they return what was recorded.

        Raises UsageError, TaskNotFound and RecordingDamaged.
        """
        return await services.replay.replay.run_replay(
            services.replay.replay.recording_of(what, self.past),
            self._controller.assemblies.own,
            strict=strict,
            folder=folder,
        )

    def checkpoints(self, workspace: Path) -> "checkpoints.shadow_git.ShadowGit":
        """Return the checkpoints of a workspace."""
        return self._controller.assemblies.of(workspace).shadow_git(workspace, checkpoints.shadow_git.BY_HAND)

    def with_code(self, workspace: Path, wanted: Sequence[str], known: Sequence[str] | None) -> list[Path]:
        """Return the task's folders that may have their own hooks or MCP servers. A quick check.

        In addition to the workspace, it checks the `wanted` folders and the `known` ones. With `known` None it is a new
        task, which takes them from the settings. Raises UsageError.
        """
        return with_code(workspace, wanted, self._controller.assemblies.of(workspace).settings, known)

    def rule_problems(self, workspace: Path) -> tuple[str, ...]:
        """Return why rule files of a workspace cannot be read; empty if all can."""
        return self._controller.assemblies.of(workspace).rule_files(workspace).book().problems

    def hooks_of(self, workspace: Path) -> "rules.hooks.FolderHooks":
        """Return the hooks configured for a folder, and whether they may run."""
        return self._controller.assemblies.of(workspace).hooks_of(workspace)

    def plugins_of(self, workspace: Path) -> "services.plugins.PluginService":
        """Return the plug-ins of the person and of a folder."""
        return services.plugins.PluginService(self._controller.assemblies.of(workspace), workspace)

    def agents_of(self, workspace: Path, roots: Sequence[str] = ()) -> "Found":
        """Return the agents that files define for a folder, and what of these files is ignored."""
        plugins = self._controller.assemblies.of(workspace).list_plugins(workspace, tuple(roots))
        return user_files.agents.found_agents(workspace, self.home.agents, roots=roots, plugins=plugins)

    def memory_of(self, workspace: Path) -> "rules.memory.Memory":
        """Return the memory for tasks in a folder."""
        settings = self._controller.assemblies.of(workspace).settings
        return rules.memory.Memory(workspace, self.home.memory, on=settings.memory)

    @property
    def terminal_settings(self) -> "TerminalSettings":
        return self._controller.assemblies.own.settings.terminal

    @property
    def logs_json(self) -> bool:
        """True if the program's own log is to be lines of JSON."""
        return self._controller.assemblies.own.settings.log_format == "json"

    def requires_sandbox(self, workspace: str) -> bool:
        """True if no command of a task in this folder may run outside a sandbox, by the person or the project."""
        return self._controller.assemblies.of(workspace).settings.sandbox == "require"

    @property
    def shows_foreign(self) -> tuple[bool, bool]:
        """Two booleans: show results of MCP servers as Markdown, and show only their beginning."""
        mcp = self._controller.assemblies.own.settings.mcp
        return mcp.display == "markdown", mcp.collapse
