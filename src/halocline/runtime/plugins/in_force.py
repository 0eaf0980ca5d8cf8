"""The plug-ins that apply in the folders of a task: those that the person trusts as they are now.

What must stay true: the copy that a task reads is made of the bytes whose hash the person trusted. A plug-in that
cannot be used is named and left out; it ends no task.
"""

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from halocline.protocol.errors import SettingsError
from halocline.protocol.events.plugins import Plugin, PluginPlace
from halocline.runtime.rules.hooks import FolderHooks
from halocline.store.paths import PROJECT_PLUGINS, Home
from halocline.store.permissions.hook_files import hooks_of_plugin
from halocline.store.permissions.trust import Trust, TrustDecision, list_plugins
from halocline.store.plugins.folder import write_copy
from halocline.store.plugins.found import (
    PACKAGE,
    FoundPlugin,
    find_in_packages,
    find_in_project,
    find_own,
)
from halocline.store.settings.settings import Settings

RUN_PROGRAMS = ("hook", "server")
"""Kinds of items that are programs."""
UNTRUSTED = "it is not trusted: halo plugins trust {name}"
CHANGED = "it changed since you trusted it: halo plugins trust {name}"
REFUSED = "you did not trust it: halo plugins trust {name}"
OF_THE_FOLDER = "the folder is not trusted: halo trust add"
TURNED_OFF = "it is turned off: halo plugins enable {name}"


class JudgedPlugin(NamedTuple):
    """A plug-in that was found, and why it is not in force; `why` is empty if it is. `is_quiet`: the person knows."""

    found: FoundPlugin
    why: str = ""
    is_quiet: bool = False


class FolderPlugins:
    """The plug-ins of the person, of packages and of a task's `folders`. `trusted` trusts the first folder's."""

    def __init__(
        self, home: Home, settings: Settings, folders: Sequence[FolderHooks], *, trusted: bool = False
    ) -> None:
        self._home, self._off = home, settings.plugins.off
        self._folders = folders
        self._trusted = trusted
        self._trust = Trust(home.trust)

    def judge_all(self, *, packages: bool = False) -> list[JudgedPlugin]:
        """Return all plug-ins, each judged; with `packages` also those of packages that were never trusted.

        Of one name, the first counts: the person's own come before a project's. Raises SettingsError.
        """
        decisions = self._trust.folders()
        known = {key.removeprefix(PACKAGE).partition("/")[0] for key in decisions if key.startswith(PACKAGE)}
        own = [*find_own(self._home.plugins)]
        if packages or known:
            own += find_in_packages(None if packages else known)
        judged = [self._judge(found, *self._judge_own(found, decisions.get(found.key))) for found in own]
        for at, folder in enumerate(self._folders):
            judged += self._judge_project(folder, trusted=self._trusted and at == 0)
        return list(_name_doubles(judged))

    def in_force(self) -> tuple[tuple[Plugin, ...], tuple[str, ...]]:
        """Return the plug-ins in force, each with a copy that is read, and remarks on those that are left out."""
        plugins, remarks = list[Plugin](), list[str]()
        try:
            judged = self.judge_all()
        except SettingsError as error:
            return (), (f"No plug-ins are in force: {error.text} {error.hint}",)
        for one in judged:
            if one.why:
                remarks += [] if one.is_quiet else [left_out(one.found.name, one.why)]
                continue
            try:
                plugin, remark = self._build(one.found)
            except (OSError, _Unusable) as error:
                remarks.append(left_out(one.found.name, str(error)))
            else:
                plugins.append(plugin)
                remarks += [remark] if remark else []
        return tuple(plugins), tuple(remarks)

    def _judge(self, found: FoundPlugin, why: str, is_quiet: bool) -> JudgedPlugin:
        if found.problem:
            return JudgedPlugin(found, found.problem, is_quiet)
        if any(fnmatchcase(found.name, pattern) for pattern in self._off):
            return JudgedPlugin(found, TURNED_OFF.format(name=found.name), True)
        return JudgedPlugin(found, why, is_quiet)

    def _judge_own(self, found: FoundPlugin, said: TrustDecision | None) -> tuple[str, bool]:
        """Say why one of the person's own plug-ins is not in force, and whether they know."""
        if said is None:
            return UNTRUSTED.format(name=found.name), False
        if said.digest != found.digest:
            return CHANGED.format(name=found.name), False
        return ("", False) if said.trusted else (REFUSED.format(name=found.name), True)

    def _judge_project(self, folder: FolderHooks, *, trusted: bool) -> Iterator[JudgedPlugin]:
        """Judge the plug-ins of a folder. A person is asked about it when a task opens there, so no remark says it."""
        if not (places := list_plugins(folder.places)):
            return
        workspace = folder.places.workspace
        said = self._trust.folders().get(os.path.realpath(workspace)) if folder.is_trusted else None
        for found in find_in_project(places, workspace):
            part = f"{PROJECT_PLUGINS}/{Path(found.folder).name}"
            is_trusted = trusted or (said is not None and said.parts.get(part) == found.digest)
            yield self._judge(found, "" if is_trusted else OF_THE_FOLDER, not is_trusted)

    def _build(self, found: FoundPlugin) -> tuple[Plugin, str]:
        """Return the plug-in with its copy, and a remark on what of it is left out. Raises OSError and _Unusable."""
        assert found.manifest
        manifest, copy = found.manifest, self._home.plugin_copies / found.digest[:32]
        write_copy(found.files, copy)
        off = tuple(_split_item(pattern, found.name) for pattern in self._off)
        plugin = Plugin(
            manifest.name,
            manifest.version,
            found.digest,
            str(copy),
            manifest.dialect,
            manifest.may,
            manifest.places,
            tuple(filter(None, off)),
        )
        if broken := next((hook.broken or hook.inert for hook in hooks_of_plugin(plugin) if not hook.event), ""):
            raise _Unusable(f"of its hooks, {broken}")
        return _hold_to_manifest(plugin)


class _Unusable(Exception):
    """Raised for a plug-in with a part that cannot be read."""


def left_out(name: str, why: str) -> str:
    """Say that a plug-in is not used."""
    return f"The plug-in {name} is left out: {why}."


def _hold_to_manifest(plugin: Plugin) -> tuple[Plugin, str]:
    """Leave out the programs of a plug-in whose manifest does not say that it runs commands."""
    kept: tuple[PluginPlace, ...] = tuple(
        place for place in plugin.places if plugin.allows("commands") or place.kind not in RUN_PROGRAMS
    )
    if kept == plugin.places:
        return plugin, ""
    why = f"The hooks and MCP servers of the plug-in {plugin.name} are left out: its manifest declares no commands."
    return replace(plugin, places=kept), why


def _split_item(pattern: str, name: str) -> str:
    """Return a pattern's part for the items of a plug-in; empty if it is about another one, or about whole ones."""
    plugin, _, item = pattern.partition("/")
    return item if fnmatchcase(name, plugin) else ""


def _name_doubles(judged: Sequence[JudgedPlugin]) -> Iterator[JudgedPlugin]:
    """Yield all; of those in force that have one name, the first alone is."""
    seen: dict[str, FoundPlugin] = {}
    for one in judged:
        if one.why or one.found.name not in seen:
            yield one
            seen |= {} if one.why else {one.found.name: one.found}
        else:
            yield JudgedPlugin(one.found, f"another one has its name, in {seen[one.found.name].folder}")
