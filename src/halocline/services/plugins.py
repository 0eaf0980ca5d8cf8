"""The plug-ins of a home and a folder: list, install, update, remove, trust, and turn on or off.

What must stay true: nothing here runs or imports anything of a plug-in.
"""

import ast
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from halocline.context.user_files import agents, commands, skills
from halocline.files.durable import write_whole
from halocline.files.regular import read_regular
from halocline.protocol import json_input
from halocline.protocol.errors import SettingsError, UsageError
from halocline.protocol.events.plugins import ItemKind, Plugin
from halocline.protocol.values import Value
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.plugins.in_force import JudgedPlugin, left_out
from halocline.services.plugin_sources import fetch_source, name_source
from halocline.store.mcp.servers import Unreadable, servers_of_plugin
from halocline.store.permissions.hook_files import hooks_of_plugin
from halocline.store.permissions.trust import Trust
from halocline.store.plugins.folder import write_copy
from halocline.store.plugins.found import FoundPlugin, PluginSource, read_plugin
from halocline.store.plugins.manifest import CLAUDE_FILE, FILE
from halocline.store.settings.edit import change_setting
from halocline.store.themes import themes_of_plugin

SOURCES = ".sources.json"
"""File in the folder of plug-ins: where each was installed from."""
NOWHERE = Path("/nonexistent")
LIST = "See: halo plugins list"
NEEDED = f"A plug-in has a {FILE} or a {CLAUDE_FILE}."


class PluginItem(Value, frozen=True, omit_defaults=False):
    """An item of a plug-in: its kind, its name, what it does, whether it is on, and why it cannot be used."""

    kind: ItemKind
    name: str
    does: str = ""
    on: bool = True
    problem: str = ""


class ListedPlugin(Value, frozen=True, omit_defaults=False):
    """One plug-in in a list. `problem` says why it is not in force; `may` is None if its manifest does not say."""

    name: str
    version: str
    source: str
    folder: str
    digest: str
    description: str
    may: tuple[str, ...] | None
    runs_code: bool
    items: tuple[PluginItem, ...]
    unread: tuple[str, ...]
    problem: str


class PluginService:
    """The plug-ins that apply in one folder."""

    def __init__(self, assembly: Assembly, workspace: Path) -> None:
        self._assembly, self._home = assembly, assembly.home
        self._workspace = workspace
        self._trust = Trust(self._home.trust)

    def listed(self) -> list[ListedPlugin]:
        """Return all plug-ins, also those of packages. Raises SettingsError."""
        return [self.describe(one) for one in self._judged()]

    def describe(self, one: JudgedPlugin) -> ListedPlugin:
        """Return what a person sees of a plug-in."""
        found, manifest = one.found, one.found.manifest
        return ListedPlugin(
            found.name,
            manifest.version if manifest else "",
            found.source,
            found.folder,
            found.digest,
            manifest.description if manifest else "",
            manifest.may if manifest else None,
            bool(manifest and manifest.python),
            tuple(self._items(found)),
            manifest.unread if manifest else (),
            one.why,
        )

    def find(self, name: str) -> JudgedPlugin:
        """Return a plug-in by its name. Raises UsageError."""
        found = [one for one in self._judged() if one.found.name == name]
        if not found:
            raise UsageError(f"There is no plug-in {name}.", LIST)
        return found[0]

    def explain_absence(self, name: str) -> str:
        """Say why a task has no plug-in of this name; empty if there is none."""
        if not (found := [one for one in self._judged() if one.found.name == name]):
            return ""
        if any(not one.why for one in found):
            return f"The plug-in {name} came after this task began, or failed in it (halo doctor says how)."
        return left_out(name, found[0].why)

    def decide(self, found: FoundPlugin, *, trusted: bool) -> None:
        """Trust or distrust one of the person's own plug-ins in its current state. Raises UsageError."""
        if found.problem:
            raise UsageError(f"The plug-in {found.name} cannot be used: {found.problem}.", LIST)
        if found.source is PluginSource.PROJECT:
            raise UsageError(f"The plug-in {found.name} is the project's.", "Trust the folder: halo trust add")
        self._home.plugins.mkdir(exist_ok=True, mode=0o700)
        self._trust.decide(found.key, found.digest, trusted=trusted)

    def switch(self, item: str, *, on: bool) -> None:
        """Turn a plug-in, or an item of it such as `tidy/skill/review`, on or off. Raises UsageError."""
        self.find(item.partition("/")[0])
        off = [name for name in self._assembly.settings.plugins.off if name != item]
        if on and len(off) == len(self._assembly.settings.plugins.off):
            raise UsageError(f"{item} is not turned off by that name.", "See: halo config get plugins.off")
        change_setting(self._home.settings, "plugins.off", (off if on else [*off, item]) or None)

    @asynccontextmanager
    async def fetch(self, source: str) -> AsyncIterator[FoundPlugin]:
        """Fetch a plug-in from its source; it is gone afterwards. Raises UsageError."""
        with tempfile.TemporaryDirectory(prefix="halocline-plugin-") as staged:
            folder, name, version = await fetch_source(source, Path(staged), self._assembly.settings.plugins.registry)
            found = read_plugin(folder, PluginSource.YOURS, name, version)
            if found.problem:
                raise UsageError(
                    f"{source} is no plug-in: {found.problem}.", f"A plug-in has a {FILE} or {CLAUDE_FILE}."
                )
            yield found

    def install(self, found: FoundPlugin, source: str, *, replaces: str = "") -> FoundPlugin:
        """Copy a fetched plug-in into the home, in place of the one that it `replaces`, which may have another name.

        Raises UsageError.
        """
        place = self._home.plugins / found.name
        if place.exists() and found.name != replaces:
            raise UsageError(f"There is a plug-in {found.name} already.", f"Use: halo plugins update {found.name}")
        try:
            self._home.plugins.mkdir(exist_ok=True, mode=0o700)
            write_copy(found.files, place)
            self._write_sources(self._sources() | {found.name: name_source(source)})
        except OSError as error:
            raise UsageError(
                f"Cannot install {found.name}: {error.strerror or error}.", "Nothing is in force."
            ) from error
        if replaces not in ("", found.name):
            self._rename(replaces, found.name)
        return read_plugin(place, PluginSource.YOURS)

    def _rename(self, old: str, new: str) -> None:
        """Remove a plug-in whose source has another name now; what was turned off of it stays off."""
        off = self._assembly.settings.plugins.off
        parts = [(name.partition("/"), name) for name in off]
        renamed = [f"{new}{slash}{item}" if plugin == old else name for (plugin, slash, item), name in parts]
        if renamed != [*off]:
            change_setting(self._home.settings, "plugins.off", renamed)
        self.remove(old)

    def source_of(self, name: str) -> str:
        """Return where a plug-in was installed from. Raises UsageError."""
        if source := self._sources().get(name):
            return source
        raise UsageError(f"It is not known where {name} came from.", "Install it again: halo plugins install SOURCE")

    def remove(self, name: str) -> None:
        """Remove one of the person's own plug-ins, with the trust in it. Raises UsageError."""
        found = self.find(name).found
        if found.source is not PluginSource.YOURS:
            raise UsageError(f"The plug-in {name} is in {found.folder}.", f"Turn it off: halo plugins disable {name}")
        place = Path(found.folder)
        if place.is_symlink():
            place.unlink()
        else:
            shutil.rmtree(place, ignore_errors=True)
        self._trust.forget(Path(found.key))
        self._write_sources({key: value for key, value in self._sources().items() if key != name})

    def _judged(self) -> list[JudgedPlugin]:
        return self._assembly.plugins_in(self._workspace).judge_all(packages=True)

    def _items(self, found: FoundPlugin) -> Iterator[PluginItem]:
        if (manifest := found.manifest) is None:
            return
        mine = (pattern.partition("/") for pattern in self._assembly.settings.plugins.off)
        off = tuple(item for name, _, item in mine if item and fnmatchcase(found.name, name))
        plugin = Plugin(found.name, "", "", os.path.realpath(found.folder), manifest.dialect, places=manifest.places)
        switched = msgspec.structs.replace(plugin, off=off)
        for item in list_items(plugin):
            yield msgspec.structs.replace(item, on=switched.has(item.kind, item.name))

    def _sources(self) -> dict[str, str]:
        try:
            return json_input.decode(read_regular(self._home.plugins / SOURCES), type=dict[str, str])
        except (OSError, msgspec.MsgspecError):
            return {}

    def _write_sources(self, sources: dict[str, str]) -> None:
        try:
            write_whole(self._home.plugins / SOURCES, msgspec.json.encode(sources))
        except OSError as error:
            raise SettingsError(f"Cannot write {self._home.plugins / SOURCES}: {error.strerror}.", "") from error


def list_items(plugin: Plugin) -> Iterator[PluginItem]:
    """Yield what a plug-in adds, as it can be seen without running it."""
    for file in plugin.paths("tool"):
        yield from _read_functions(Path(file))
    for skill in skills.found_skills(NOWHERE, NOWHERE, plugins=(plugin,)).skills:
        yield PluginItem("skill", skill.name.partition(":")[2], skill.description)
    words = commands.found_words(commands.Places(NOWHERE, NOWHERE, NOWHERE, plugins=(plugin,)))
    yield from (PluginItem("command", name.partition(":")[2]) for name in words.files)
    for agent in agents.found_agents(NOWHERE, NOWHERE, NOWHERE, plugins=(plugin,)).agents:
        yield PluginItem("agent", agent.name.partition(":")[2], agent.description)
    for hook in hooks_of_plugin(plugin):
        yield PluginItem("hook", hook.event or "?", hook.name, problem=hook.inert or hook.broken)
    try:
        for server in servers_of_plugin(plugin, NOWHERE):
            yield PluginItem("server", server.name.partition(":")[2], server.runs, problem=server.problem)
    except Unreadable as error:
        yield PluginItem("server", "?", problem=str(error))
    for theme in themes_of_plugin(plugin):
        yield PluginItem("theme", theme.name, theme.description, problem=theme.problem)


def _read_functions(file: Path) -> Iterator[PluginItem]:
    """Yield the tools of a module with the effects that they declare, the points of its hooks, and its providers."""
    try:
        tree = ast.parse(read_regular(file))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for function in tree.body:
        match function:
            case (
                ast.Assign(targets=[ast.Name(id="hooks" | "providers" as name)], value=ast.Dict(keys=keys))
                | ast.AnnAssign(target=ast.Name(id="hooks" | "providers" as name), value=ast.Dict(keys=keys))
            ):
                kind: ItemKind = "hook" if name == "hooks" else "provider"
                does = "" if kind == "hook" else "its models read the whole conversation"
                yield from (PluginItem(kind, str(one.value), does) for one in keys if isinstance(one, ast.Constant))
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for mark in function.decorator_list:
            called = mark.func if isinstance(mark, ast.Call) else mark
            if getattr(called, "attr", getattr(called, "id", "")) == "tool":
                keywords = mark.keywords if isinstance(mark, ast.Call) else ()
                given = {one.arg: ast.unparse(one.value).strip("'\"") for one in keywords}
                yield PluginItem("tool", given.get("name", function.name), given.get("effect", "") or "anything")
