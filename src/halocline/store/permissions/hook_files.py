"""Configured hooks: executables in folders, named after their moment, and lists in Claude's settings files.

Hooks that cannot run are listed too, with the reason: nothing is left out silently. A guard that is meant to run and
cannot is broken, and what it guards does not happen: a file that cannot be read may hold guards.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from halocline.files.regular import NotRegular, read_regular, why_not_regular
from halocline.ports.hooks import Hook
from halocline.protocol import json_input
from halocline.protocol.config_locations import HOOK_FOLDERS, HOOK_SETTINGS, OWN_HOOK_FOLDERS, OWN_HOOK_SETTINGS
from halocline.protocol.events.hooks import HookPoint, HookSource
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.values import Value

RUNNERS = {
    **dict.fromkeys((".sh", ".bash"), "bash"),
    ".zsh": "zsh",
    ".py": "python3",
    ".ps1": "pwsh",
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), "node"),
}
"""Interpreters of files that are not executable themselves, by suffix."""

EVENTS: dict[str, tuple[HookPoint, ...]] = {
    **{moment.value: (moment,) for moment in HookPoint},
    "PostToolUseFailure": (HookPoint.POST_TOOL_USE,),
    "SessionStart": (HookPoint.TASK_START, HookPoint.TASK_RESUME),
    "SessionEnd": (HookPoint.SESSION_SHUTDOWN,),
    "Stop": (HookPoint.TASK_COMPLETE,),
    "StopFailure": (HookPoint.TASK_ERROR,),
}
"""Moments for the events of settings files."""

PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"


class Entry(Value, frozen=True):
    """One hook of a settings file."""

    type: str = "command"
    command: str = ""
    args: tuple[str, ...] | None = None
    timeout: float | None = None
    on_failure: Literal["", "block", "continue"] = msgspec.field(default="", name="onFailure")
    is_async: bool = msgspec.field(default=False, name="async")
    condition: str = msgspec.field(default="", name="if")


class Group(Value, frozen=True):
    """Hooks for the same tools."""

    matcher: str = ""
    hooks: tuple[Entry, ...] = ()


class Places(Value, frozen=True):
    """Locations of hooks. `user` is the user's home folder, if any; `own` are folders from their settings."""

    workspace: Path
    user: Path | None = None
    own: tuple[Path, ...] = ()

    def folders(self, source: HookSource) -> list[Path]:
        """Return the existing folders of executables."""
        if source is HookSource.USER:
            theirs = [self.user / name for name in OWN_HOOK_FOLDERS] if self.user else []
            return [folder for folder in (*theirs, *self.own) if folder.is_dir()]
        return [folder for name in HOOK_FOLDERS if (folder := self.workspace / name).is_dir() and self._foreign(folder)]

    def settings(self, source: HookSource) -> list[Path]:
        """Return the existing settings files."""
        if source is HookSource.USER:
            return [file for name in OWN_HOOK_SETTINGS if self.user and (file := self.user / name).exists()]
        return [file for name in HOOK_SETTINGS if (file := self.workspace / name).exists() and self._foreign(file)]

    def _foreign(self, path: Path) -> bool:
        """False for the user's own hooks, which are also in the workspace if that is the home folder."""
        mine = [*self.folders(HookSource.USER), *self.settings(HookSource.USER)]
        return os.path.realpath(path) not in {os.path.realpath(own) for own in mine}


def hooks_in(places: Places, source: HookSource) -> list[Hook]:
    """Return all hooks in these locations, in order."""
    found: list[Hook] = []
    for folder in places.folders(source):
        found += (_executable_hook(path, source, places) for path in sorted(folder.iterdir()) if _looks_like_one(path))
    for file in places.settings(source):
        found += _listed_hooks(file, source, places)
    return found


def hooks_of_plugin(plugin: Plugin) -> list[Hook]:
    """Return the hooks of a plug-in that a person did not turn off; they are named by the plug-in."""
    places, found, top = Places(Path(plugin.folder)), list[Hook](), f"the plug-in {plugin.name}"
    for place in map(Path, plugin.paths("hook")):
        if place.is_dir():
            paths = (path for path in sorted(place.iterdir()) if _looks_like_one(path))
            found += (_executable_hook(path, HookSource.PLUGIN, places) for path in paths)
        else:
            found += _listed_hooks(place, HookSource.PLUGIN, places)
    return [
        replace(hook, name=f"{hook.name} ({top})", file=f"{top}, {hook.file}", plugin=plugin.folder)
        for hook in found
        if plugin.has("hook", hook.event)
    ]


def _looks_like_one(path: Path) -> bool:
    return path.stem.lower() in {moment.lower() for moment in HookPoint} and not path.is_dir()


def _executable_hook(path: Path, source: HookSource, places: Places) -> Hook:
    moment = next((moment for moment in HookPoint if moment.value == path.stem), None)
    hook = Hook(
        name=_shown_path(path, places), moment=moment, event=path.stem, source=source, file=_shown_path(path, places)
    )
    if moment is None:
        right = next(known.value for known in HookPoint if known.lower() == path.stem.lower())
        return replace(hook, inert=f"rename it to {right}")
    if why := why_not_regular(path):
        return replace(hook, inert=why)
    if os.access(path, os.X_OK):
        return replace(hook, words=(str(path),))
    return _with_runner(hook, path)


def _with_runner(hook: Hook, path: Path) -> Hook:
    if not path.suffix:
        return replace(hook, inert=f"it is not executable: chmod +x {path}")
    runner = RUNNERS.get(path.suffix)
    if runner is None:
        return replace(hook, inert=f"no known interpreter for {path.suffix} files; make it executable: chmod +x {path}")
    if shutil.which(runner) is None:
        return replace(hook, broken=f"its interpreter, {runner}, is not installed")
    return replace(hook, words=(runner, str(path)))


def _listed_hooks(file: Path, source: HookSource, places: Places) -> Iterator[Hook]:
    try:
        settings = json_input.decode_config(read_regular(file))
        listed: dict[str, Any] = settings.get("hooks", {}) if isinstance(settings, dict) else {}
        events = {event: msgspec.convert(groups, list[Group]) for event, groups in listed.items()}
        off = isinstance(settings, dict) and settings.get("disableAllHooks") is True
    except NotRegular as error:  # there is no file with hooks
        shown = _shown_path(file, places)
        yield Hook(shown, None, "", source, shown, in_settings=True, inert=f"cannot read the file: {error}")
        return
    except (OSError, ValueError, AttributeError) as error:
        shown = _shown_path(file, places)
        why = f"the file cannot be read, so its hooks are unknown ({error}); correct it and start again"
        yield Hook(shown, HookPoint.USER_PROMPT_SUBMIT, "", source, shown, in_settings=True, broken=why)
        return
    for event, groups in events.items():
        for group in groups:
            for entry in group.hooks:
                for hook in _hooks_of_entry(event, group.matcher, entry, _shown_path(file, places), source):
                    yield replace(hook, inert="disableAllHooks is set in the file") if off else hook


def _hooks_of_entry(event: str, matcher: str, entry: Entry, file: str, source: HookSource) -> Iterator[Hook]:
    moments: Iterable[HookPoint | None] = EVENTS.get(event, (None,))
    for moment in moments:
        yield Hook(
            name=" ".join((entry.command, *(entry.args or ()))) or entry.type,
            moment=moment,
            event=event,
            source=source,
            file=file,
            words=("/bin/sh", "-c", entry.command) if entry.args is None else (entry.command, *entry.args),
            matcher=matcher,
            timeout=entry.timeout,
            on_failure=entry.on_failure,
            in_settings=True,
            inert=_why_inert(event, moment, entry),
            broken=_why_broken(matcher),
        )


def _why_inert(event: str, moment: HookPoint | None, entry: Entry) -> str:
    if moment is None:
        return f"the event {event} is not supported"
    if entry.type != "command":
        return f"hooks of type {entry.type} are not supported, only commands"
    if not entry.command:
        return "it has no command"
    if entry.is_async:
        return "async hooks are not supported"
    if entry.timeout is not None and entry.timeout <= 0:
        return "its timeout must be above 0"
    return ""


def _why_broken(matcher: str) -> str:
    try:
        re.compile(matcher)
    except re.error as error:
        return "" if matcher == "*" else f"its matcher is not a valid regular expression: {error}"
    return ""


def _shown_path(path: Path, places: Places) -> str:
    """Format a path for display."""
    for folder, before in ((places.workspace, ""), (places.user, "~/")):
        if folder is not None and path.is_relative_to(folder):
            return before + str(path.relative_to(folder))
    return str(path)
