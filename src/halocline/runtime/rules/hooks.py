"""The hooks of one folder: those configured, those that run, why others do not, and the trust in the folder."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from halocline.hosts.hooks import LocalHooks
from halocline.ports.hooks import Hook
from halocline.ports.mcp_servers import ServerOwner
from halocline.protocol.errors import SettingsError
from halocline.protocol.events.hooks import HookSource
from halocline.protocol.permission_rules import Source, Verdict
from halocline.runtime import parts
from halocline.store.mcp.servers import Unreadable, servers_in
from halocline.store.paths import PROJECT_RULES, Home
from halocline.store.permissions import trust
from halocline.store.permissions.hook_files import Places, hooks_in, hooks_of_plugin
from halocline.store.permissions.rules import Unreadable as UnreadableRules, read_rules
from halocline.store.plugins.found import FoundPlugin, find_in_project
from halocline.store.settings.settings import Settings
from halocline.task.hooks.hooks import LiveHooks, Rules

if TYPE_CHECKING:
    from halocline.ports.mcp_servers import Server
    from halocline.protocol.events.plugins import Plugin
    from halocline.protocol.permission_rules import Rule
    from halocline.runtime.parts.program_parts import ProgramHook

HookSetup = Hook
"""The type that surfaces list."""

WHY = {
    trust.Standing.UNKNOWN: "the folder is not trusted: halo trust add",
    trust.Standing.REFUSED: "you did not trust the folder: halo trust add",
}


class FolderHooks:
    """Hooks of a folder and of the person, and the trust in that folder."""

    def __init__(self, workspace: Path, home: Home, settings: Settings, env: Mapping[str, str]) -> None:
        self._settings = settings
        self._trust = trust.Trust(home.trust)
        own = [Path(folder).expanduser().absolute() for folder in settings.hook_folders]
        user = Path(env["HOME"]) if env.get("HOME") else None
        self.places = Places(workspace, user, (home.hooks, *own))

    @property
    def standing(self) -> trust.Standing:
        """The trust in the folder. Raises SettingsError."""
        return self._trust.standing(self.places)

    @property
    def is_trusted(self) -> bool:
        """True if the folder is trusted as it is now. With an unreadable trust file, no folder is."""
        try:
            return self.standing is trust.Standing.TRUSTED
        except SettingsError:
            return False

    @property
    def folders(self) -> dict[str, trust.TrustDecision]:
        """All folders that the person trusted or refused. Raises SettingsError."""
        return self._trust.folders()

    def changed_since(self, then: Mapping[str, str]) -> str:
        """Describe what changed since then, unless it was trusted since; empty if nothing did."""
        now = trust.parts_of(self.places)
        if (then and now == then) or self.is_trusted:
            return ""
        return trust.describe_change(then, now)

    @property
    def servers(self) -> "list[Server]":
        """The MCP servers configured in the folder; none of a file that cannot be read."""
        found: list[Server] = []
        for file, row in trust.server_files(self.places):
            with suppress(Unreadable):
                found += servers_in(file, ServerOwner.PROJECT, row.dialect, self.places.workspace)
        return found

    @property
    def problems(self) -> list[str]:
        """Problems with the folder's MCP server files."""
        found: list[str] = []
        for file, row in trust.server_files(self.places):
            try:
                servers = servers_in(file, ServerOwner.PROJECT, row.dialect, self.places.workspace)
                found += [server.problem for server in servers if server.problem]
            except Unreadable as error:
                found.append(str(error))
        return found

    @property
    def allowing_rules(self) -> "list[Rule]":
        """The folder's allowing rules, which apply only while it is trusted; none of an unreadable file."""
        with suppress(UnreadableRules):
            rules = read_rules(self.places.workspace / PROJECT_RULES, Source.PROJECT)
            return [rule for rule in rules if rule.decision is Verdict.ALLOW]
        return []

    @property
    def plugins(self) -> list[FoundPlugin]:
        """The folder's own plug-ins, which are in force only while it is trusted."""
        return list(find_in_project(trust.list_plugins(self.places), self.places.workspace))

    @property
    def settings(self) -> dict[str, Any]:
        """The folder's own settings that apply only while it is trusted, by dotted name."""
        return trust.read_trusted_settings(self.places).rows

    def say(self, *, trusted: bool) -> None:
        """Trust the folder as it is now, or refuse it. Raises SettingsError."""
        self._trust.say(self.places, trusted=trusted)

    def forget(self, folder: Path) -> bool:
        """Forget the decision on a folder. Return False if there was none. Raises SettingsError."""
        return self._trust.forget(folder)

    def own(self, *, trusted: bool) -> "Sequence[Hook]":
        """Return the folder's own hooks, for a task with another workspace. Raises SettingsError."""
        found = (hook for hook in self.list(trusted=trusted) if hook.source is HookSource.PROJECT)
        return [replace(hook, folder=str(self.places.workspace)) for hook in found]

    def list(self, *, trusted: bool = False) -> list[Hook]:
        """Return every configured hook; `inert` says why one does not run. Raises SettingsError."""
        why = "" if trusted else self._why_not()
        foreign = [
            hook if hook.inert else replace(hook, inert=why) for hook in hooks_in(self.places, HookSource.PROJECT)
        ]
        hooks = [*foreign, *hooks_in(self.places, HookSource.USER)]
        if self._settings.hooks:
            return hooks
        return [replace(hook, inert="hooks are turned off (hooks = false)") for hook in hooks]

    def _why_not(self) -> str:
        """Return why the folder's own hooks do not run; empty if they do. Raises SettingsError."""
        standing = self.standing
        if standing is trust.Standing.CHANGED:
            return f"{self._trust.describe_change(self.places)} since you trusted the folder: halo trust add"
        return WHY.get(standing, "")

    def live(
        self,
        log: Path,
        hidden: frozenset[str],
        redact: Callable[[str], str],
        others: "Sequence[FolderHooks]" = (),
        given: "Sequence[ProgramHook]" = (),
        plugins: "Sequence[Plugin]" = (),
        *,
        passed: tuple[str, ...] = (),
        trusted: bool,
        environment: Mapping[str, str] = os.environ,
    ) -> LiveHooks | None:
        """Build the hooks that run in a task, with those of its `others`, the other folders; None if there are none.

        `given` are functions, of the program that opens it and of its `plugins`. Raises SettingsError.
        """
        as_now = {"": (self, trust.parts_of(self.places))}
        as_now |= {str(other.places.workspace): (other, trust.parts_of(other.places)) for other in others}
        active = [hook for hook in self.list(trusted=trusted) if not hook.inert]
        active += [hook for folder in others for hook in folder.own(trusted=trusted) if not hook.inert]
        active += [hook for plugin in plugins for hook in hooks_of_plugin(plugin) if not hook.inert]
        active += [hook.hook for hook in given]
        if not active:
            return None
        rules = Rules(
            timeout=self._settings.hook_timeout,
            fails_closed=self._settings.hook_failures == "block",
            transcript=str(log),
            changed=lambda folder: as_now[folder][0].changed_since(as_now[folder][1]),
            redact=redact,
        )
        local = LocalHooks(str(self.places.workspace), hidden, passed, environment)
        return LiveHooks(active, parts.program_parts.ProgramHooks(given, local) if given else local, rules)
