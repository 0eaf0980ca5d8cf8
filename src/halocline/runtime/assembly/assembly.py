"""Assemble a task from the parts of all packages. The only place that names concrete classes."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.checkpoints.store.repository import Limits as CheckpointLimits
from halocline.context.request import Context
from halocline.hosts.code.tree_sitter import TreeSitter
from halocline.hosts.documents.documents import ChildDocuments
from halocline.hosts.files.local import LocalFiles
from halocline.hosts.ripgrep import Ripgrep
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.hosts.shell.shell import LocalShell
from halocline.hosts.web.fetch import LocalWeb
from halocline.net.network import Network
from halocline.policy.grid import rules_of
from halocline.ports.checkpoints import Checkpoints
from halocline.ports.model import Model
from halocline.ports.tool import SecretFilter, ToolHost, Toolset
from halocline.protocol.events.limits import Limits
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.state.state import State
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.providers.text_tools.correction import Correcting
from halocline.providers.wrappers.per_mode import Switching
from halocline.runtime.assembly.feature_probes import any_hooks, any_servers, has_hooks, has_subagents
from halocline.runtime.assembly.network import network_to
from halocline.runtime.assembly.optional_parts import (
    LazyMentions,
    build_browser,
    build_checkpoints,
    build_diagnostics,
    build_sandbox,
    build_subagents,
    has_jobs,
    in_auto,
)
from halocline.runtime.assembly.redactor import KnownValues
from halocline.runtime.assembly.revisions import WorkspaceRevisions
from halocline.runtime.assembly.toolset import build_toolset
from halocline.runtime.limits import chosen_limits
from halocline.runtime.models.keys import FoundKey, Keys, key_variables
from halocline.runtime.models.resolve import open_model, thinking_by_mode, with_retries, with_text_tools
from halocline.runtime.models.vendors import describe_model, takes_images
from halocline.runtime.prompts.system_prompt import list_model_names
from halocline.runtime.rules.live import instructions_of
from halocline.runtime.task_options import Choices as Choices
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.permissions.rules import RuleFiles
from halocline.store.settings.settings import Settings, load_settings, with_overrides
from halocline.store.tasks.history import new_task_id
from halocline.task.calls.policy_input import OUTPUTS
from halocline.task.governor import Governor
from halocline.task.host import ContextSources, EditOptions, TaskHost
from halocline.task.inbox import Inbox
from halocline.task.log import Log
from halocline.task.task import Task, TaskParts
from halocline.task.updates.change_watch import ChangeWatch

if TYPE_CHECKING:
    from halocline.hosts.browser.discovery import FoundBrowser
    from halocline.hosts.sandbox.sandbox import Sandbox
    from halocline.mcp.connection.pool import Pool
    from halocline.ports.browser import Browser
    from halocline.ports.hooks import Hooks
    from halocline.ports.instructions import Instructions
    from halocline.ports.web_search import WebSearch
    from halocline.providers.catalog.refresh import Refreshed
    from halocline.runtime.mcp import FolderServers
    from halocline.runtime.rules.hooks import FolderHooks
    from halocline.store.tasks.recording import Recorder

PATIENCE = 30.0
"""Timeout in seconds for a silent catalogue server."""


class Assembly:
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
        self._had_browser, self.is_watched = had_browser, is_watched
        self.home = home
        self.settings = settings
        self.env = env
        given = FoundKey(api_key, "--api-key") if api_key else None
        self.keys = Keys(home, env, given, settings.base_url)
        self._other_keys = Keys(home, env)
        self._search_keys = Keys(home, env, base_url=settings.web_search.url)

    @classmethod
    def of(cls, choices: Choices, env: Mapping[str, str] = os.environ) -> "Assembly":
        """Read the home and the settings. Raises UsageError and SettingsError."""
        home = Home.of(env)
        settings = choices.over(load_settings(home.settings, env, choices.profile))
        return cls(home, settings, env, choices.api_key, is_watched=lambda: not choices.unattended)

    @cached_property
    def blobs(self) -> DiskBlobs:
        return DiskBlobs(self.home.blobs)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The catalogue of providers and models; read on first use."""
        return Catalogue(self.home.catalogue, BUNDLED)

    async def model(self, named: str) -> Model:
        """Open the named model, or the ones in the settings for act and plan mode.

        Raises:
            UsageError: one of them, or of the fallback models, cannot be used.
        """
        act = await self._with_fallback(await self._open(named, self.settings, self.keys))
        wanted = self.settings.plan.model
        if named or wanted in ("", act.name):
            return act

        return Switching({Mode.ACT: act, Mode.PLAN: await self._with_fallback(await self._beside(wanted, act))})

    async def _with_fallback(self, model: Model) -> Model:
        names = [name for name in self.settings.fallback_models if name != model.name]
        if not names:
            return model
        from halocline.providers.wrappers.fallback import Fallback

        return Fallback([model, *[await self._beside(name, model) for name in names]])

    async def _beside(self, named: str, main: Model) -> Model:
        """Open a model beside the main one. A base URL and key from flags apply only to the main one's provider."""
        if named.partition("/")[0] == main.name.partition("/")[0]:
            return await self._open(named, with_overrides(self.settings, {"context_window": None}), self.keys)
        elsewhere = with_overrides(self.settings, {"base_url": "", "context_window": None})
        return await self._open(named, elsewhere, self._other_keys)

    async def _open(self, named: str, settings: Settings, keys: Keys) -> Model:
        model = await open_model(named, settings, self.env, keys, self.blobs, self.catalogue)
        return with_retries(Correcting(with_text_tools(model, settings)), settings, lambda: self.is_watched())

    async def names(self, named: str) -> dict[Mode, str]:
        """Return the names of the models that a task would use, without opening them. Raises UsageError."""
        return await list_model_names(named, self.settings, self.keys, self.catalogue)

    def remark(self, model: str) -> str:
        """Return a notice about the chosen model or a missing browser; usually empty."""
        notice = describe_model(model, self.settings, self.env, self.catalogue)
        if self.settings.browser and not self._browser_program:
            found = self._found_browser
            notice = f"{notice} The model has no browser: {found.missing}. {found.hint}".strip()
        return notice

    async def refresh_models(self) -> "Refreshed":
        """Download the catalogue again. Raises HaloclineError and then keeps the old one."""
        from halocline.providers.catalog.refresh import refresh_catalogue

        url = self.settings.catalogue_url
        network = network_to(url, self.settings, self.env)
        network = replace(network, first_byte_timeout=PATIENCE, stall_timeout=PATIENCE)
        return await refresh_catalogue(url, self.home.catalogue, network)

    def context(self) -> Context:
        """Build the context, which makes a task's requests."""
        return Context(
            self.settings.max_tokens, thinking_by_mode(self.settings), self.settings.compaction.at, self._sees
        )

    def _sees(self, model: str) -> bool:
        return takes_images(model, self.settings, self.catalogue)

    def tools(self) -> Toolset:
        """Return all available tools; the state decides which of them the model is offered."""
        browser = self._browser_program if self._had_browser is None else self._had_browser
        search = self._search.url if self._search else None
        return build_toolset(self.settings, browser=bool(browser), search=search, notes=self.home.memory)

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
        if has_subagents(self.settings, self.home, Path(state.workspace)):
            names.add("use_subagents")
        return frozenset(names if attended else names - {"new_task"})

    @cached_property
    def search_remark(self) -> str:
        """Why web_search is not available although an engine is set; empty if it is."""
        if self._search is None:
            return ""
        from halocline.runtime.assembly.search_engine import without_key

        return without_key(self.settings, self._search_keys)

    @cached_property
    def _search(self) -> "WebSearch | None":
        """The search engine of the settings. Raises UsageError if its address is invalid."""
        if not self.settings.web_search.engine:
            return None
        from halocline.runtime.assembly.search_engine import build_search

        return build_search(self.settings, self._search_keys, self._network_to)

    def task(
        self, log: Log, state: State, workspace: Path, model: Model, *, attended: bool, trusted: bool = False
    ) -> Task:
        """Build a task, ready to be served. `workspace` is absolute; `trusted` lets its hooks run this time."""
        hooks = self._hooks(workspace, state.roots, log, trusted=trusted)
        parts = self.parts(log, state, workspace, model, Inbox(attended=attended), hooks)
        if state.subagents.subtask:
            from halocline.runtime.subagents.runner import lean_parts

            return Task(lean_parts(parts))
        tools = structs.replace(parts.host.tools, subagents=build_subagents(self.settings, trusted=trusted))
        parts = structs.replace(parts, host=structs.replace(parts.host, tools=tools))
        if any_servers(self.home, self.settings, workspace, self.env):
            return self.mcp_of(workspace).task(parts, state.roots, trusted=trusted)
        return Task(parts)

    def hooks_of(self, workspace: Path) -> "FolderHooks":
        """Return the hooks configured for a folder, and whether they may run."""
        from halocline.runtime.rules.hooks import FolderHooks

        return FolderHooks(workspace, self.home, self.settings, self.env)

    def _hooks(self, workspace: Path, roots: tuple[str, ...], log: Log, *, trusted: bool) -> "Hooks | None":
        others = [self.hooks_of(root) for root in map(Path, roots) if has_hooks(self.settings, root)]
        if not (others or any_hooks(self.home, self.settings, workspace, self.env)):
            return None
        live, hidden, passed = self.hooks_of(workspace).live, self.key_variables(), self.settings.pass_environment
        return live(log.path, hidden, self.secrets.redact, others, passed=passed, trusted=trusted)

    def recorder(self, file: Path) -> "Recorder":
        """Return a recorder that writes to a new file. Raises UsageError if it exists or cannot be created."""
        from halocline.store.tasks.recording import RECORDED_SETTINGS, Recorder

        settings = {name: getattr(self.settings, name) for name in RECORDED_SETTINGS}
        if self._browser_program:
            settings |= {"browser": True, "browser_viewport": self.settings.browser_viewport}
        return Recorder(file, settings, self.secrets.values())

    def parts(
        self, log: Log, state: State, workspace: Path, model: Model, inbox: Inbox, hooks: "Hooks | None"
    ) -> TaskParts:
        """Build the parts of a task."""
        log.refers_to(self.blobs.sync)
        log.leaves_out(self.secrets.redact_known)
        host = self._build_host(log, state, workspace, hooks)
        return TaskParts(
            log=log,
            state=state,
            inbox=inbox,
            model=model,
            context=self.context(),
            toolset=self.tools(),
            checkpoints=self._checkpoints(workspace, state.roots, log.task, host),
            governor=Governor(self.limits()),
            host=host,
            home=self.home.root,
            automatic_compaction=self.settings.compaction.automatic,
        )

    def limits(self) -> Limits:
        """Return the limits for a task that starts or is resumed now."""
        return chosen_limits(self.settings)

    def shadow_git(self, workspace: Path, task: str, is_busy: Callable[[], bool] = lambda: False) -> ShadowGit:
        """Return the checkpoints of a workspace; new ones belong to the task, which `is_busy` while a job runs."""
        limits, quota = CheckpointLimits(self.settings.checkpoints_patience), int(self.settings.checkpoints_quota * 1e6)
        return ShadowGit(self.home.checkpoints, workspace, task, limits=limits, quota=quota, is_busy=is_busy)

    def _checkpoints(self, workspace: Path, roots: tuple[str, ...], task: str, host: TaskHost) -> Checkpoints:
        store = partial(self.shadow_git, task=task, is_busy=has_jobs(host))
        is_plain = self.settings.checkpoints and not roots
        return store(workspace) if is_plain else build_checkpoints(self.settings, store, workspace, roots)

    def _build_host(self, log: Log, state: State, workspace: Path, hooks: "Hooks | None") -> TaskHost:
        folder = log.path.parent
        watch = ChangeWatch(folder, LocalFiles(), self.settings.todo_reminder)
        log.attach(watch)
        host = TaskHost(
            folder=folder,
            tools=self._tool_host(log, state, workspace),
            permissions=self.rule_files(workspace, state.roots),
            sources=ContextSources(
                diagnostics=build_diagnostics(self.settings, workspace, self.key_variables(), self.env),
                instructions=self.instructions(workspace, state.roots),
                changes=watch,
            ),
            secrets=SecretFilter(self.secrets.redact, self.secrets.redact_thoroughly, self.secrets.restored),
            takes_images=self._sees,
            new_task_id=new_task_id,
            editing=EditOptions(self.settings.syntax_errors, self.settings.partial_edits, self.settings.formatters),
            shell_facts=self.shell_facts(),
            hooks=hooks,
        )
        mentions = LazyMentions(host, self.home)
        return structs.replace(host, sources=structs.replace(host.sources, mentions=mentions))

    def _tool_host(self, log: Log, state: State, workspace: Path) -> ToolHost:
        folder = log.path.parent
        return ToolHost(
            files=LocalFiles(self.home.edits),
            shell=LocalShell(
                folder / OUTPUTS,
                self.key_variables(),
                first_job=state.jobs.started + 1,
                workspace=state.workspace,
                sandbox=self.sandbox(workspace, folder, state.roots),
                sandbox_in_auto=in_auto(self.settings, partial(self.any_sandbox, workspace, folder, state.roots)),
                redact=self.secrets.redact,
                home=str(self.home.root),
                passed=self.settings.pass_environment,
            ),
            search=Ripgrep(),
            web=LocalWeb(self._network_to),
            blobs=self.blobs,
            code=TreeSitter(),
            documents=ChildDocuments(),
            revisions=WorkspaceRevisions(workspace, lambda: self.shadow_git(workspace, log.task)),
            web_search=self._search,
            browser=self._browser(),
        )

    def instructions(self, workspace: Path, roots: tuple[str, ...] = ()) -> "Instructions | None":
        """Return the rule files of a folder and other roots; None if rules are turned off."""
        return instructions_of(workspace, self.home, self.settings, self.env, self.rule_files, roots)

    def mcp_of(self, workspace: Path) -> "FolderServers":
        """Return the MCP servers configured for a folder."""
        from halocline.runtime.mcp import FolderServers

        hooks, keys, pool = self.hooks_of(workspace), self.key_variables(), self._mcp_pool
        return FolderServers(hooks, self.home, self.settings, self.env, keys, self.blobs, self.catalogue, pool)

    @cached_property
    def _mcp_pool(self) -> "Pool":
        from halocline.runtime.mcp import build_pool

        return build_pool(self.env)

    async def close(self) -> None:
        """Close what tasks share."""
        if pool := self.__dict__.get("_mcp_pool"):
            await pool.close()

    def shell_facts(self) -> LocalShellFacts:
        """Return the facts about this machine that the policy needs to judge commands."""
        return LocalShellFacts(self.env)

    def rule_files(self, workspace: Path, roots: tuple[str, ...] = ()) -> RuleFiles:
        """Return the permanent rules and grants of a workspace, and of a task's other folders."""
        return RuleFiles(
            self.home.policy,
            self.home.grants,
            workspace,
            trusted=lambda: self.hooks_of(workspace).is_trusted,
            extra=rules_of(self.settings.auto_approve),
            roots=roots,
        )

    @cached_property
    def _found_browser(self) -> "FoundBrowser":
        from halocline.hosts.browser.discovery import find_browser

        return find_browser(self.settings.browser_executable, remote=self.settings.browser_remote)

    @property
    def _browser_program(self) -> str:
        """The browser that tasks may use; empty if it is turned off or there is none."""
        return self._found_browser.program if self.settings.browser else ""

    def _browser(self) -> "Browser | None":
        if not self._browser_program:
            return None

        return build_browser(self._browser_program, self.settings, self.env, self._network_to)

    @cached_property
    def secrets(self) -> KnownValues:
        """The secrets to redact from every text that the model reads, that is logged, or that leaves the home."""
        keys = (self.keys, self._other_keys, self._search_keys)
        return KnownValues(self.home, self.settings, self.env, self.key_variables, keys)

    def sandbox(self, workspace: Path, folder: Path, roots: tuple[str, ...] = ()) -> "Sandbox | None":
        """Return the sandbox for a task's commands; `folder` is the task's own. None if the settings turn it off."""
        return self.any_sandbox(workspace, folder, roots) if self.settings.sandbox in ("auto", "require") else None

    def any_sandbox(self, workspace: Path, folder: Path, roots: tuple[str, ...] = ()) -> "Sandbox":
        """Return the sandbox whatever the settings say."""
        return build_sandbox(self.settings, self.home.root, workspace, roots, folder)

    def _network_to(self, url: str) -> Network:
        return network_to(url, self.settings, self.env)

    def key_variables(self) -> frozenset[str]:
        """Return the variables that hold keys; no command gets them."""
        return key_variables(self.settings, self.env, self.catalogue)
