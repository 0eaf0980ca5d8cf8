"""Assemble a task from the parts of all packages."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from halocline import checkpoints, hosts
from halocline.context.request import Context
from halocline.hosts.files.local import LocalFiles
from halocline.ports.diagnostics import NoDiagnostics
from halocline.ports.host import Files
from halocline.ports.model import Model
from halocline.ports.tool import Program, SecretFilter, ToolHost, Toolset
from halocline.protocol.events.limits import Limits
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.state.state import State
from halocline.runtime import assembly, parts
from halocline.runtime.assembly.folder_access import FolderAccess
from halocline.runtime.assembly.later import build_later, build_search_later, build_shell_later
from halocline.runtime.assembly.optional_parts import (
    LazyCheckpoints,
    LazyMentions,
    LazySubagents,
    build_diagnostics,
    has_jobs,
)
from halocline.runtime.assembly.toolset import build_toolset
from halocline.runtime.assembly.warm_up import list_task_steps
from halocline.runtime.limits import chosen_limits
from halocline.runtime.models.resolve import thinking_by_mode
from halocline.runtime.models.vendors import describe_model
from halocline.runtime.parts.feature_probes import any_hooks, any_servers, has_hooks, has_subagents
from halocline.runtime.task_options import Choices as Choices
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings
from halocline.store.tasks.history import new_task_id
from halocline.task import calls
from halocline.task.governor import Governor
from halocline.task.host import ContextSources, EditOptions, TaskHost
from halocline.task.inbox import Inbox
from halocline.task.log import Log
from halocline.task.parts import TaskParts
from halocline.task.spending import Spending
from halocline.task.task import Task
from halocline.task.updates.change_watch import ChangeWatch
from halocline.task.within_budget import WithinBudget

if TYPE_CHECKING:
    from halocline.hosts.shell.shell import LocalShell
    from halocline.ports.checkpoints import Checkpoints
    from halocline.ports.hooks import HookRunner, Hooks
    from halocline.ports.own import Host
    from halocline.ports.permissions import Judge
    from halocline.ports.revisions import Revisions
    from halocline.runtime.assembly.browser import ConfiguredBrowser
    from halocline.runtime.assembly.search_engine import ConfiguredSearch
    from halocline.runtime.parts.editor_parts import EditorParts
    from halocline.runtime.parts.program_parts import PluginParts, ProgramParts
    from halocline.store.tasks.recording import Recorder


class Assembly(FolderAccess):
    """Builds tasks and their parts for one home and one set of settings."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        env: Mapping[str, str],
        api_key: Secret | None = None,
        had_browser: bool | None = None,
        is_watched: Callable[[], bool] = lambda: True,
    ) -> None:
        """`had_browser` is True if a recorded task was offered one; None: decide as usual."""
        super().__init__(home, settings, env, api_key, is_watched)
        self._had_browser = had_browser

    def remark(self, model: str) -> str:
        """Return a notice about the chosen model or a missing browser; usually empty."""
        is_given = model in self.given_models
        notice = "" if is_given else describe_model(model, self.settings, self.env, self.catalogue)
        if self._browser and not self._has_browser:
            found = self._browser.found
            notice = f"{notice} The model has no browser: {found.missing}. {found.hint}".strip()
        return notice

    def context(self) -> Context:
        """Build the context, which makes a task's requests."""
        return Context(
            self.settings.max_tokens, thinking_by_mode(self.settings), self.settings.compaction.at, self._sees
        )

    def tools(self) -> Toolset:
        """Return all available tools; the state decides which of them the model is offered."""
        browser = self._has_browser if self._had_browser is None else self._had_browser
        search = self._search.engine.url if self._search else None
        return build_toolset(self.settings, browser=browser, search=search, notes=self.home.memory)

    def offered(self, state: State, attended: bool, before: Iterable[str]) -> frozenset[str]:
        """Return the tools a task is offered besides the standard ones; `before` are those it has for its own reasons.

        Unattended tasks get no tools that a person must approve. A sub-agent keeps the tools it started with.
        """
        if state.subagents.subtask:
            return frozenset(before)
        names = {*before, *self.settings.extra_tools} - {"web_search", "remember"}
        if self.settings.memory and (attended or state.permissions.approval_mode is ApprovalMode.YOLO):
            names.add("remember")
        if self._search is not None and not self.search_remark:
            names.add("web_search")
        described = any(True for plugin in state.prompt.plugins for _ in plugin.paths("agent"))
        if has_subagents(self.settings, self.home, Path(state.workspace), described=described):
            names.add("use_subagents")
        return frozenset(names if attended else names - {"new_task"})

    @property
    def search_remark(self) -> str:
        """Why web_search is not available although an engine is set; empty if it is."""
        return self._search.remark if self._search else ""

    @cached_property
    def _search(self) -> "ConfiguredSearch | None":
        """The search engine of the settings. Raises UsageError if its address is invalid."""
        if not self.settings.web_search.engine:
            return None
        return assembly.search_engine.ConfiguredSearch(self.settings, self._search_keys, self._find_network)

    def task(
        self,
        log: Log,
        state: State,
        workspace: Path,
        model: Model,
        *,
        attended: bool,
        trusted: bool = False,
        editor: "EditorParts | None" = None,
        program: "ProgramParts | None" = None,
        plugins: "PluginParts | None" = None,
        spending: Spending | None = None,
    ) -> Task:
        """Build a task, ready to be served. `workspace` is absolute; `trusted` lets its hooks run this time.

        `editor` and `program` are what the one of them brings that opens the task, `plugins` what those bring;
        `spending` is that of a sub-agent's parent.
        """
        own_host = program.host if program else None
        hooks = self._hooks(workspace, state.roots, log, program, plugins, trusted=trusted)
        inbox = _make_inbox(state, program, attended=attended)
        parts = self.parts(log, state, workspace, model, inbox, hooks, editor, own_host, spending)
        without = self.settings.subagents == "off" or own_host is not None
        subagents = None if without else LazySubagents(plugins, trusted=trusted)
        own = _build_program(program, plugins)
        tools = structs.replace(parts.host.tools, subagents=subagents, program=own)
        parts = structs.replace(parts, host=structs.replace(parts.host, tools=tools))
        if state.subagents.subtask:
            from halocline.runtime.assembly.lean_parts import lean_parts

            return Task(lean_parts(parts))
        servers = editor.servers if editor else ()
        folders = (workspace, *map(Path, state.roots))
        named = plugins.plugins if plugins else ()
        brings = servers or any(True for plugin in named for _ in plugin.paths("server"))
        if (brings and self.settings.mcp.enabled) or any_servers(self.home, self.settings, folders, self.env):
            return self.mcp_of(workspace, servers, state.roots, named).task(parts, state.roots, trusted=trusted)
        return Task(parts)

    def _hooks(
        self,
        workspace: Path,
        roots: tuple[str, ...],
        log: Log,
        program: "ProgramParts | None",
        plugins: "PluginParts | None",
        *,
        trusted: bool,
    ) -> "Hooks | None":
        plugins = plugins if self.settings.hooks else None
        given = (*(program.hooks if program else ()), *(plugins.hooks if plugins else ()))
        named = plugins.plugins if plugins else ()
        others = [self.hooks_of(root) for root in map(Path, roots) if has_hooks(self.settings, root)]
        if not (others or given or named or any_hooks(self.home, self.settings, workspace, self.env)):
            return None
        return self.hooks_of(workspace).live(
            log.path,
            self.key_variables(),
            self.secrets.redact,
            others,
            given,
            named,
            passed=self.settings.pass_environment,
            trusted=trusted,
            environment=self.shared.environment,
        )

    def recorder(self, file: Path) -> "Recorder":
        """Return a recorder that writes to a new file. Raises UsageError if it exists or cannot be created."""
        from halocline.store.tasks.recording import RECORDED_SETTINGS, Recorder

        settings = {name: getattr(self.settings, name) for name in RECORDED_SETTINGS}
        if self._has_browser:
            settings |= {"browser": True, "browser_viewport": self.settings.browser_viewport}
        return Recorder(file, settings, self.secrets.values())

    def parts(
        self,
        log: Log,
        state: State,
        workspace: Path,
        model: Model,
        inbox: Inbox,
        hooks: "Hooks | None",
        editor: "EditorParts | None" = None,
        own_host: "Host | None" = None,
        parent: Spending | None = None,
    ) -> TaskParts:
        """Build the parts of a task; `parent` is the spending of a sub-agent's parent."""
        log.refers_to(self.blobs.sync)
        log.leaves_out(self.secrets.redact_known)
        disk = LocalFiles(self.home.edits, encodings=self.settings.encodings)
        folders = (workspace, *map(Path, state.roots))
        files = editor.build_files(disk, log, folders, self.home.root) if editor else disk
        if own_host and own_host.files:
            files = hosts.own.files.OwnFiles(own_host.files)
        host = self._build_host(log, state, workspace, hooks, files, editor, own_host)
        checks = self._checkpoints(workspace, state.roots, log.task, host)
        spending = Spending(self.find_terms, self.limits(), parent)
        if (judge := self.settings.judge).model and judge.rule.strip() and not parent:
            host = structs.replace(host, judge=self._build_judge(model, spending))
        return TaskParts(
            log=log,
            state=state,
            inbox=inbox,
            model=WithinBudget(model, spending),
            context=self.context(),
            toolset=self.tools(),
            checkpoints=checkpoints.off.Off() if own_host else checks,
            governor=Governor(spending),
            host=host,
            home=self.home.root,
            automatic_compaction=self.settings.compaction.automatic,
        )

    def _build_judge(self, main: Model, spending: Spending) -> "Judge":
        judge = self.settings.judge

        async def open_model() -> Model:
            return WithinBudget(await self._beside(self._full_name(judge.model), main), spending)

        return calls.judge.ModelJudge(open_model, judge.rule, judge.most, self.secrets.redact)

    def limits(self) -> Limits:
        """Return the limits for a task that starts or is resumed now."""
        return chosen_limits(self.settings, self.managed.rows)

    def _checkpoints(self, workspace: Path, roots: tuple[str, ...], task: str, host: TaskHost) -> "Checkpoints":
        store = partial(self.shadow_git, task=task, is_busy=has_jobs(host))
        return LazyCheckpoints(lambda: assembly.checkpoints.build_checkpoints(self.settings, store, workspace, roots))

    def _build_host(
        self,
        log: Log,
        state: State,
        workspace: Path,
        hooks: "Hooks | None",
        files: Files,
        editor: "EditorParts | None",
        own_host: "Host | None" = None,
    ) -> TaskHost:
        folder = log.path.parent
        watch = ChangeWatch(folder, files, self.settings.todo_reminder)
        log.attach(watch)
        tools, without = self._tool_host(log, state, workspace, files), NoDiagnostics() if own_host else None
        if own_host:
            outputs = folder / calls.policy_input.OUTPUTS
            tools = hosts.own.parts.with_own_parts(tools, own_host, outputs, self.secrets.redact)
        host = TaskHost(
            folder=folder,
            tools=tools,
            permissions=self.rule_files(workspace, state.roots),
            sources=ContextSources(
                diagnostics=without
                or build_diagnostics(self.settings, workspace, self.key_variables(), self.env, editor),
                instructions=self.instructions(workspace, state.roots),
                changes=watch,
                terminals=editor.terminals if editor else None,
            ),
            secrets=SecretFilter(self.secrets.redact, self.secrets.redact_thoroughly, self.secrets.restored),
            takes_images=self._sees,
            new_task_id=new_task_id,
            editing=EditOptions(self.settings.syntax_errors, self.settings.partial_edits, self.settings.formatters),
            shell_facts=build_later(self.shell_facts),
            hooks=hooks,
        )
        mentions = LazyMentions(host, self.home)
        return structs.replace(host, sources=structs.replace(host.sources, mentions=mentions))

    def _tool_host(self, log: Log, state: State, workspace: Path, files: Files) -> ToolHost:
        shell = build_shell_later(lambda: self._shell(log, state, workspace))
        code = build_later(lambda: hosts.code.tree_sitter.TreeSitter())
        if state.subagents.subtask is None:
            self.shared.warm_up.attach(log, list_task_steps(workspace, shell, code))
        return ToolHost(
            files=files,
            shell=shell,
            search=build_search_later(lambda: hosts.ripgrep.Ripgrep(encodings=self.settings.encodings)),
            web=build_later(lambda: hosts.web.fetch.LocalWeb(self._find_network)),
            blobs=self.blobs,
            code=code,
            documents=build_later(lambda: hosts.documents.documents.ChildDocuments()),
            revisions=build_later(lambda: self._revisions(workspace, log.task)),
            web_search=self._search.engine if self._search else None,
            browser=self._browser.open() if self._browser else None,
        )

    def _revisions(self, workspace: Path, task: str) -> "Revisions":
        return parts.revisions.WorkspaceRevisions(workspace, lambda: self.shadow_git(workspace, task))

    def _shell(self, log: Log, state: State, workspace: Path) -> "LocalShell":
        folder = log.path.parent
        in_auto = partial(self.any_sandbox, workspace, folder, state.roots)
        return hosts.shell.shell.LocalShell(
            folder / calls.policy_input.OUTPUTS,
            self.key_variables(),
            first_job=state.jobs.started + 1,
            workspace=state.workspace,
            sandbox=self.sandbox(workspace, folder, state.roots),
            sandbox_in_auto=in_auto if self.settings.sandbox == "in-auto" else None,
            redact=self.secrets.redact,
            home=str(self.home.root),
            passed=self.settings.pass_environment,
            environment=self.shared.environment,
        )

    def hook_runner(self, folder: Path) -> "HookRunner":
        """Return what runs a person's command in a folder, outside the sandbox."""
        hidden, passed = self.key_variables(), self.settings.pass_environment
        return hosts.hooks.LocalHooks(str(folder), hidden, passed, self.shared.environment)

    def note_sent(self) -> None:
        self.shared.warm_up.begin()

    @cached_property
    def _browser(self) -> "ConfiguredBrowser | None":
        """The browser that tasks may use; None if it is turned off."""
        if not self.settings.browser:
            return None
        return assembly.browser.ConfiguredBrowser(self.settings, self.env, self._find_network)

    @property
    def _has_browser(self) -> bool:
        return self._browser is not None and bool(self._browser.found.program)


def _make_inbox(state: State, program: "ProgramParts | None", *, attended: bool) -> Inbox:
    """Make the inbox; a sub-agent's time is kept, as a program's that answers nothing."""
    keeps_time = state.subagents.subtask is not None or (program is not None and not program.answers)
    return Inbox(attended=attended, keeps_time=keeps_time)


def _build_program(program: "ProgramParts | None", plugins: "PluginParts | None") -> Program | None:
    """Return what runs the functions that are tools of a task; None if it has none."""
    tools = (*(program.tools if program else ()), *(plugins.tools if plugins else ()))
    return parts.program_parts.ProgramTools(tools) if tools else None
