"""All that applies in a folder by the settings of a home: rules, hooks, MCP servers, checkpoints and the sandbox."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from halocline import checkpoints, hosts
from halocline.files.stamp import read_stamp
from halocline.policy.presets import rules_of
from halocline.ports.model import BroughtProvider, Model
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, SandboxStanding, ToolKind
from halocline.protocol.permission_rules import Effect, Rule, RuleBook, Verdict
from halocline.providers.wrappers.pace import Paces
from halocline.runtime import assembly, plugins, rules
from halocline.runtime.assembly.model_access import Layers, ModelAccess
from halocline.runtime.assembly.warm_up import WarmUp, list_shared_steps
from halocline.runtime.parts.feature_probes import any_plugins
from halocline.runtime.rules.live import instructions_of
from halocline.runtime.task_options import Choices
from halocline.store.paths import PROJECT_SETTINGS, Home
from halocline.store.permissions.rule_files import RuleFiles
from halocline.store.settings.load import ProjectLayer

if TYPE_CHECKING:
    from halocline.hosts.sandbox.sandbox import Sandbox
    from halocline.mcp.connection.pool import Pool
    from halocline.ports.editor_models import EditorModels
    from halocline.ports.instructions import Instructions
    from halocline.ports.mcp_servers import Server
    from halocline.ports.shell_facts import ShellFacts
    from halocline.protocol.events.plugins import Plugin
    from halocline.runtime.mcp import FolderServers
    from halocline.runtime.parts.program_parts import PluginParts


class SharedParts(msgspec.Struct):
    """Parts that the same tasks use whatever folder they are in, and after the settings were loaded again."""

    pool: "Pool | None" = None
    """The pool of MCP servers, once there is one."""
    editor_models: "EditorModels | None" = None
    """The models of the editor that tasks run in."""
    given_models: dict[str, Model] = {}
    """Models that the program brought in which the tasks run, by name."""
    paces: Paces = msgspec.field(default_factory=Paces)
    """The paces at which these tasks ask models."""
    warm_up: WarmUp = msgspec.field(default_factory=lambda: WarmUp(list_shared_steps()))
    """Parts that are made ready while models think."""
    environment: Mapping[str, str] = os.environ
    """The variables that commands and hooks start from: those of the terminal that started the task."""


class FolderAccess(ModelAccess):
    """Builds what tasks and services share in a folder. The pool of MCP servers is closed with it."""

    by_folder: "Callable[[Path, tuple[str, ...]], FolderAccess] | None" = None
    """Returns what applies in a task's folders by the settings as they are now, if they are read again."""
    _brought: tuple[tuple[int, ...] | None, Mapping[str, BroughtProvider]] = (None, {})
    """The providers of plug-ins, and the stamp of the trust in them."""
    given_rules: tuple[Rule, ...] = ()
    """Rules for this run alone, besides those in files and settings."""

    @cached_property
    def shared(self) -> SharedParts:
        """The parts that tasks share."""
        return SharedParts()

    @property
    def editor_models(self) -> "EditorModels | None":
        return self.shared.editor_models

    @property
    def given_models(self) -> Mapping[str, Model]:
        return self.shared.given_models

    @property
    def paces(self) -> Paces:
        return self.shared.paces

    @classmethod
    def of(
        cls,
        choices: Choices,
        env: Mapping[str, str] = os.environ,
        *,
        layers: Layers | None = None,
        home: Home | None = None,
    ) -> Self:
        """Read the home and the settings, and the rules among the choices. Raises UsageError and SettingsError."""
        access = super().of(choices, env, layers=layers, home=home)
        if choices.allowed_tools or choices.disallowed_tools:
            patterns = (choices.allowed_tools or (), choices.disallowed_tools or ())
            access.given_rules = rules.tool_patterns.read_patterns(*patterns, choices.custom_tools or ())
        return access

    def in_folder(self, workspace: Path, roots: tuple[str, ...] = (), *, trusted: bool = False) -> Self:
        """Return what applies in a task's folders: this, or the same with the settings of the folders' own files.

        `trusted` trusts the first folder for this run; the others only tighten. Raises SettingsError.
        """
        if self.choices is None or not (layers := self._project_layers(workspace, roots, trusted=trusted)):
            return self
        own = dict(self.own)
        loaded = rules.project_settings.apply_project(own, layers, self.given_env)
        access = type(self).of(
            self.choices, self.given_env, layers=Layers(own, loaded.settings, loaded.refused), home=self.home
        )
        access.is_watched, access.given_rules, access.shared = self.is_watched, self.given_rules, self.shared
        return access

    def project_layer(self, workspace: Path, *, trusted: bool = False) -> ProjectLayer | None:
        """Return a folder's settings file with the trust in the folder; None if it has none."""
        if not os.path.lexists(workspace / PROJECT_SETTINGS):
            return None
        own = self.home.settings
        return rules.project_settings.find_layer(workspace, own, lambda: trusted or self.hooks_of(workspace).is_trusted)

    def _project_layers(self, workspace: Path, roots: tuple[str, ...], *, trusted: bool) -> tuple[ProjectLayer, ...]:
        first = self.project_layer(workspace, trusted=trusted)
        found = (rules.project_settings.find_layer(Path(root), self.home.settings, lambda: False) for root in roots)
        others = (ProjectLayer(layer.file, further=True) for layer in found if layer)
        return (*([first] if first else []), *others)

    def rule_files(self, workspace: Path, roots: tuple[str, ...] = ()) -> RuleFiles:
        """Return the permanent rules and grants of a workspace, and of a task's other folders."""
        return RuleFiles(
            self.home.policy,
            self.home.grants,
            workspace,
            trusted=lambda: self.hooks_of(workspace).is_trusted,
            extra=lambda: self._settings_rules(workspace, roots),
            roots=roots,
            managed=self.home.managed_rules,
        )

    def _settings_rules(self, workspace: Path, roots: tuple[str, ...]) -> RuleBook:
        """Return the rules that the settings stand for, as they are now."""
        access = self.by_folder(workspace, roots) if self.by_folder else self
        settings, managed = access.settings, access.managed
        switched = rules_of(settings.auto_approve)
        off = (
            *_rules_against(settings.tools_off, f"tools_off is {managed.explain('tools_off')}"),
            *(() if settings.web else _rules_against_web(f"web is {managed.explain('web')}")),
        )
        fixed = tuple(one for one in ApprovalSwitch if f"auto_approve.{one}" in managed.rows)
        return RuleBook((*switched, *off, *self.given_rules), modes_off=managed.modes_off(settings), fixed=fixed)

    def instructions(self, workspace: Path, roots: tuple[str, ...] = ()) -> "Instructions | None":
        """Return the rule files of a folder and other roots; None if rules are turned off."""
        return instructions_of(workspace, self.home, self.settings, self.env, self.rule_files, roots)

    def hooks_of(self, workspace: Path) -> "rules.hooks.FolderHooks":
        """Return the hooks configured for a folder, and whether they may run."""
        return rules.hooks.FolderHooks(workspace, self.home, self.settings, self.env)

    def mcp_of(
        self,
        workspace: Path,
        given: "tuple[Server, ...]" = (),
        roots: tuple[str, ...] = (),
        brought: "tuple[Plugin, ...]" = (),
    ) -> "FolderServers":
        """Return the MCP servers of a folder and of a task's other `roots`, those `given` for it, and of plug-ins."""
        from halocline.runtime.mcp import FolderServers, build_pool

        pool = self.shared.pool = self.shared.pool or build_pool(self.env)
        hooks, keys = self.hooks_of(workspace), self.key_variables()
        return FolderServers(
            hooks,
            self.home,
            self.settings,
            self.env,
            keys,
            self.blobs,
            self.catalogue,
            pool,
            self.home.managed_mcp,
            given=given,
            others=tuple(self.hooks_of(Path(root)) for root in roots),
            plugins=brought,
        )

    def plugins_in(
        self, workspace: Path, roots: tuple[str, ...] = (), *, trusted: bool = False
    ) -> "plugins.in_force.FolderPlugins":
        """Return the plug-ins of the person and of a task's folders; `trusted` trusts those of the first."""
        folders = [self.hooks_of(folder) for folder in (workspace, *map(Path, roots))]
        return plugins.in_force.FolderPlugins(self.home, self.settings, folders, trusted=trusted)

    def list_plugins(self, workspace: Path, roots: tuple[str, ...] = ()) -> "tuple[Plugin, ...]":
        """Return the plug-ins that a new task would have, without their code."""
        has_any = any_plugins(self.home, (workspace, *map(Path, roots)))
        return self.plugins_in(workspace, roots).in_force()[0] if has_any else ()

    def list_brought(self) -> Mapping[str, BroughtProvider]:
        """Return the providers of plug-ins, without those of projects: a person chooses where a conversation goes."""
        trusted = read_stamp(self.home.trust)
        if trusted != self._brought[0]:
            found = plugins.in_force.FolderPlugins(self.home, self.settings, ()).in_force()
            self._brought = trusted, plugins.loading.load_parts(*found).providers
        return self._brought[1]

    def load_plugins(
        self, workspace: Path, roots: tuple[str, ...] = (), *, trusted: bool = False
    ) -> "PluginParts | None":
        """Return the plug-ins that a task has, with their code; None if there is no place for any."""
        if not any_plugins(self.home, (workspace, *map(Path, roots))):
            return None
        return plugins.loading.load_parts(*self.plugins_in(workspace, roots, trusted=trusted).in_force())

    def shell_facts(self) -> "ShellFacts":
        """Return the facts about this machine that the policy needs to judge commands."""
        return hosts.shell.policy_facts.LocalShellFacts(self.env, _find_unkept if self.settings.checkpoints else None)

    def shadow_git(
        self, workspace: Path, task: str, is_busy: Callable[[], bool] = lambda: False
    ) -> "checkpoints.shadow_git.ShadowGit":
        """Return the checkpoints of a workspace; new ones belong to the task, which `is_busy` while a job runs."""
        limits = checkpoints.saved.Limits(self.settings.checkpoints_patience)
        quota = int(self.settings.checkpoints_quota * 1e6)
        return checkpoints.shadow_git.ShadowGit(
            self.home.checkpoints, workspace, task, limits=limits, quota=quota, is_busy=is_busy
        )

    def sandbox(self, workspace: Path, folder: Path, roots: tuple[str, ...] = ()) -> "Sandbox | None":
        """Return the sandbox for a task's commands; `folder` is the task's own. None if the settings turn it off."""
        return self.any_sandbox(workspace, folder, roots) if self.settings.sandbox in ("auto", "require") else None

    def any_sandbox(self, workspace: Path, folder: Path, roots: tuple[str, ...] = ()) -> "Sandbox":
        """Return the sandbox whatever the settings say."""
        return assembly.sandbox.build_sandbox(self.settings, self.home.root, workspace, roots, folder)

    def check_sandbox(self, workspace: Path, mode: ApprovalMode, roots: tuple[str, ...] = ()) -> SandboxChecked:
        """Return the sandbox that a task's commands would have in an approval mode. Blocks while it is tested."""
        wanted = self.settings.sandbox
        if wanted == "off" or (wanted == "in-auto" and mode is not ApprovalMode.AUTO):
            return SandboxChecked()
        from tempfile import TemporaryDirectory  # only what explains decisions tests the sandbox without a task

        with TemporaryDirectory(prefix="halocline-") as folder:
            found = self.any_sandbox(workspace, Path(folder), roots).examine().checked
        return found if wanted != "in-auto" or found.standing is SandboxStanding.FULL else SandboxChecked()

    async def close(self) -> None:
        """Close what tasks share."""
        if self.shared.pool:
            await self.shared.pool.close()


def _find_unkept(paths: Iterable[str], roots: Sequence[str]) -> tuple[str, ...]:
    return checkpoints.unkept.find_unkept(paths, roots, checkpoints.saved.Limits().largest)


def _rules_against(tools: tuple[str, ...], reason: str) -> tuple[Rule, ...]:
    """Return the rule that takes tools from every task; none if there are no tools."""
    return (Rule(Verdict.DENY, "tools_off", reason, tools=tools),) if tools else ()


def _rules_against_web(reason: str) -> tuple[Rule, ...]:
    """Return the rules that take the web from every task; what programs do, a sandbox without network bounds."""
    return (
        Rule(Verdict.DENY, "web", reason, tools=("web_fetch", "web_search", "browser_action")),
        Rule(Verdict.DENY, "web", reason, kinds=(ToolKind.FETCH,)),
        Rule(Verdict.DENY, "web", reason, effects=(Effect.NETWORK,)),
    )
