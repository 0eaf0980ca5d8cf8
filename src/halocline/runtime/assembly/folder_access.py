"""All that applies in a folder by the settings of a home: rules, hooks, MCP servers, checkpoints and the sandbox."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

from halocline.checkpoints.saved import Limits as CheckpointLimits
from halocline.checkpoints.shadow_git import ShadowGit
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.grid import rules_of
from halocline.protocol.permission_rules import Rule
from halocline.runtime import assembly, rules
from halocline.runtime.assembly.model_access import ModelAccess
from halocline.runtime.rules.live import instructions_of
from halocline.runtime.task_options import Choices
from halocline.store.permissions.rule_files import RuleFiles

if TYPE_CHECKING:
    from halocline.hosts.sandbox.sandbox import Sandbox
    from halocline.mcp.connection.pool import Pool
    from halocline.ports.instructions import Instructions
    from halocline.ports.mcp_servers import Server
    from halocline.runtime.mcp import FolderServers


class FolderAccess(ModelAccess):
    """Builds what tasks and services share in a folder. The pool of MCP servers is closed with it."""

    _mcp_pool: "Pool | None" = None
    given_rules: tuple[Rule, ...] = ()
    """Rules for this run alone, besides those in files and settings."""

    @classmethod
    def of(cls, choices: Choices, env: Mapping[str, str] = os.environ) -> Self:
        """Read the home and the settings, and the rules among the choices. Raises UsageError and SettingsError."""
        access = super().of(choices, env)
        if choices.allowed_tools or choices.disallowed_tools:
            patterns = (choices.allowed_tools or (), choices.disallowed_tools or ())
            access.given_rules = rules.tool_patterns.read_patterns(*patterns)
        return access

    def rule_files(self, workspace: Path, roots: tuple[str, ...] = ()) -> RuleFiles:
        """Return the permanent rules and grants of a workspace, and of a task's other folders."""
        return RuleFiles(
            self.home.policy,
            self.home.grants,
            workspace,
            trusted=lambda: self.hooks_of(workspace).is_trusted,
            extra=(*rules_of(self.settings.auto_approve), *self.given_rules),
            roots=roots,
        )

    def instructions(self, workspace: Path, roots: tuple[str, ...] = ()) -> "Instructions | None":
        """Return the rule files of a folder and other roots; None if rules are turned off."""
        return instructions_of(workspace, self.home, self.settings, self.env, self.rule_files, roots)

    def hooks_of(self, workspace: Path) -> "rules.hooks.FolderHooks":
        """Return the hooks configured for a folder, and whether they may run."""
        return rules.hooks.FolderHooks(workspace, self.home, self.settings, self.env)

    def mcp_of(self, workspace: Path, given: "tuple[Server, ...]" = ()) -> "FolderServers":
        """Return the MCP servers configured for a folder, and those `given` for one task."""
        from halocline.runtime.mcp import FolderServers, build_pool

        self._mcp_pool = self._mcp_pool or build_pool(self.env)
        hooks, keys = self.hooks_of(workspace), self.key_variables()
        return FolderServers(
            hooks, self.home, self.settings, self.env, keys, self.blobs, self.catalogue, self._mcp_pool, given=given
        )

    def shell_facts(self) -> LocalShellFacts:
        """Return the facts about this machine that the policy needs to judge commands."""
        return LocalShellFacts(self.env)

    def shadow_git(self, workspace: Path, task: str, is_busy: Callable[[], bool] = lambda: False) -> ShadowGit:
        """Return the checkpoints of a workspace; new ones belong to the task, which `is_busy` while a job runs."""
        limits, quota = CheckpointLimits(self.settings.checkpoints_patience), int(self.settings.checkpoints_quota * 1e6)
        return ShadowGit(self.home.checkpoints, workspace, task, limits=limits, quota=quota, is_busy=is_busy)

    def sandbox(self, workspace: Path, folder: Path, roots: tuple[str, ...] = ()) -> "Sandbox | None":
        """Return the sandbox for a task's commands; `folder` is the task's own. None if the settings turn it off."""
        return self.any_sandbox(workspace, folder, roots) if self.settings.sandbox in ("auto", "require") else None

    def any_sandbox(self, workspace: Path, folder: Path, roots: tuple[str, ...] = ()) -> "Sandbox":
        """Return the sandbox whatever the settings say."""
        return assembly.sandbox.build_sandbox(self.settings, self.home.root, workspace, roots, folder)

    async def close(self) -> None:
        """Close what tasks share."""
        if self._mcp_pool:
            await self._mcp_pool.close()
