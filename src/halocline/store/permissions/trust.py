"""Trusted folders, which may run their own code. Trust is not inherited: each real path is trusted by itself.

A folder is trusted in its current state: its hooks, servers and rules, and the programs that these run, each with a
hash. When one of them changes, everything is switched off until the user confirms the folder again. `parts_of` lists
what a folder can switch on; data that its programs read or write is not included.
"""

import hashlib
import os
import shlex
import time
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.files.durable import write_whole
from halocline.files.regular import open_regular, read_regular
from halocline.ports.hooks import Hook
from halocline.ports.mcp_servers import ServerOwner
from halocline.protocol import json_input
from halocline.protocol.config_locations import SERVER_ROWS, Row
from halocline.protocol.errors import SettingsError
from halocline.protocol.events.hooks import HookSource
from halocline.protocol.mcp_formats import SHARED
from halocline.protocol.values import Value
from halocline.store.mcp.servers import Unreadable, read_entries, servers_in
from halocline.store.paths import PROJECT_PLUGINS, PROJECT_RULES, PROJECT_SETTINGS
from halocline.store.permissions.hook_files import Places, hooks_in
from halocline.store.permissions.hook_programs import find_programs, run_by, with_code_beside
from halocline.store.plugins.folder import digest_folder, list_folders
from halocline.store.settings.project import read_project

MOST_FILES = 1_000
"""Maximum programs in a folder; one with more cannot be trusted."""
MOST_NAMED = 3
HOOKS = "the list of hooks"


class Standing(StrEnum):
    """Trust in a folder. `nothing`: it has nothing to switch on."""

    NOTHING = "nothing"
    UNKNOWN = "unknown"
    CHANGED = "changed"
    REFUSED = "refused"
    TRUSTED = "trusted"


class TrustDecision(Value, frozen=True, omit_defaults=False):
    """The user's decision about a folder in the state of `parts`, which it would switch on. `at` is in Unix seconds."""

    digest: str
    trusted: bool
    at: float
    parts: dict[str, str] = {}


class TrustedSettings(Value, frozen=True):
    """Settings of a folder that need trust, by dotted name, and their file."""

    file: str = ""
    rows: dict[str, Any] = {}


class Trusted(Value, frozen=True):
    """Content of the file."""

    folders: dict[str, TrustDecision] = {}


class Trust:
    """The user's decisions about folders. `places` are the locations of one folder's hooks."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def standing(self, places: Places) -> Standing:
        """Return the trust in a folder. Raises SettingsError."""
        if not (hooks_in(places, HookSource.PROJECT) or _setting_files(places) or list_plugins(places)):
            return Standing.NOTHING
        said = self.folders().get(_real_folder(places.workspace))
        if said is None:
            return Standing.UNKNOWN
        if not (now := digest_parts(parts_of(places))) or said.digest != now:
            return Standing.CHANGED
        return Standing.TRUSTED if said.trusted else Standing.REFUSED

    def describe_change(self, places: Places) -> str:
        """Describe the changes since the decision about a folder; empty if there are none. Raises SettingsError."""
        said, now = self.folders().get(_real_folder(places.workspace)), parts_of(places)
        return "" if said is None or said.digest == digest_parts(now) else describe_change(said.parts or now, now)

    def folders(self) -> dict[str, TrustDecision]:
        """Return all decisions by folder. Raises SettingsError."""
        try:
            return json_input.decode(read_regular(self._file), type=Trusted).folders
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise SettingsError(
                f"Cannot read {self._file}: {error}.", "Fix it, or move it away; then no folder is trusted."
            ) from error

    def say(self, places: Places, *, trusted: bool) -> None:
        """Trust or distrust the folder in its current state. Raises SettingsError."""
        parts = parts_of(places)
        if not parts:
            raise SettingsError(
                f"Cannot trust {places.workspace}: its hooks and servers come with more than {MOST_FILES:,} programs.",
                "Move files that do not belong to hooks out of the hook folders.",
            )
        said = TrustDecision(digest_parts(parts), trusted, round(time.time()), parts)
        self._write(self.folders() | {_real_folder(places.workspace): said})

    def forget(self, folder: Path) -> bool:
        """Remove the decision about a folder. False if there is none. Raises SettingsError."""
        folders = self.folders()
        if folders.pop(_real_folder(folder), None) is None:
            return False
        self._write(folders)
        return True

    def decide(self, name: str, digest: str, *, trusted: bool) -> None:
        """Trust or distrust one of the user's own plug-ins in its current state. Raises SettingsError."""
        self._write(self.folders() | {name: TrustDecision(digest, trusted, round(time.time()))})

    def _write(self, folders: dict[str, TrustDecision]) -> None:
        try:
            write_whole(self._file, msgspec.json.format(msgspec.json.encode(Trusted(folders)), indent=1))
        except OSError as error:
            raise SettingsError(f"Cannot write {self._file}: {error.strerror}.", "Nothing was changed.") from error


def server_files(places: Places) -> list[tuple[Path, Row]]:
    """Return the folder's files of MCP servers; none for the home folder, where they are the user's own.

    Settings of other programs count if they define servers.
    """
    if _is_home(places):
        return []
    rows = ((places.workspace / row.path, row) for row in SERVER_ROWS if not row.root)
    return [(file, row) for file, row in rows if file.exists() and (row.dialect not in SHARED or _entries(file, row))]


def _entries(file: Path, row: Row) -> dict[str, Any]:
    """Return the servers of a file; one entry if it cannot be read."""
    try:
        return read_entries(file, row.dialect, Path("/"))
    except Unreadable as error:
        return {"": str(error)}


def parts_of(places: Places) -> dict[str, str]:
    """Return everything that the folder would switch on, by display name, each with a hash of its state.

    Includes its hooks, servers, rules and plug-ins, and every program that these run. Empty if there are too many.
    """
    places = replace(places, workspace=Path(_real_folder(places.workspace)))
    hooks = hooks_in(places, HookSource.PROJECT)
    files = _setting_files(places)
    programs = _program_paths(places, hooks) if hooks or files else set()
    if len(programs) > MOST_FILES:
        return {}
    listed = hashlib.sha256(msgspec.json.encode(hooks)).hexdigest()
    found = {str(file): _file_state(str(file)) for file in sorted(programs)}
    found |= {str(file): _settings_state(file, row) for file, row in files}
    found |= {str(folder): digest_folder(folder) for folder in list_plugins(places)}
    return {HOOKS: listed} | {os.path.relpath(name, places.workspace): state for name, state in found.items()}


def digest_parts(parts: Mapping[str, str]) -> str:
    """Return a hash of all parts; empty if there are none."""
    return hashlib.sha256(msgspec.json.encode(sorted(parts.items()))).hexdigest() if parts else ""


def describe_change(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Describe the differences in words."""
    changed = [name for name in now if name in before and before[name] != now[name]]
    said = [
        *(f"{name} changed" for name in changed),
        *(f"{name} is new" for name in now if name not in before),
        *(f"{name} was removed" for name in before if name not in now),
    ]
    more = f" and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
    return ", ".join(said[:MOST_NAMED]) + more or "the folder changed"


def _setting_files(places: Places) -> list[tuple[Path, Row | None]]:
    """Return the files that switch things on: rules, settings, lists of servers. Hooks are compared in parsed form."""
    rules = places.workspace / PROJECT_RULES
    own = [rules] if rules.exists() else []
    own += [Path(file) for file in (read_trusted_settings(places).file,) if file]
    return [*((file, None) for file in own), *server_files(places)]


def list_plugins(places: Places) -> list[Path]:
    """Return the folders of the folder's own plug-ins; none for the home folder, where they are the user's."""
    return [] if _is_home(places) else list_folders(places.workspace / PROJECT_PLUGINS)


def _settings_state(file: Path, row: Row | None) -> str:
    """Return the state of a file of settings; of one that holds much else, only of its servers."""
    if row is None or row.dialect not in SHARED:
        return _file_state(str(file))
    return f"{os.path.realpath(file)} {hashlib.sha256(msgspec.json.encode(_entries(file, row))).hexdigest()}"


def read_trusted_settings(places: Places) -> TrustedSettings:
    """Return the settings of a folder that need trust; `file` is empty if there are none."""
    file = places.workspace / PROJECT_SETTINGS
    if not os.path.lexists(file) or _is_home(places):
        return TrustedSettings()
    project = read_project(file)
    rows = {name: project.rows[name] for name in project.wants_trust}
    return TrustedSettings(str(file), rows) if rows else TrustedSettings()


def _program_paths(places: Places, hooks: list[Hook]) -> set[str]:

    folders = places.folders(HookSource.PROJECT)
    if places.settings(HookSource.PROJECT):
        folders = [*folders, places.workspace / ".claude" / "hooks"]
    served = {
        name
        for file, row in server_files(places)
        for command, folder in _server_commands(file, row, places.workspace)
        for name in run_by(command, folder)
    }
    return find_programs(hooks, folders, places.workspace) | with_code_beside(served)


def _server_commands(file: Path, row: Row, workspace: Path) -> Iterator[tuple[str, Path]]:
    """Yield the commands of the folder's servers, each with its working folder."""
    try:
        for server in servers_in(file, ServerOwner.PROJECT, row.dialect, workspace):
            words = [word for word in (server.entry.command, *server.entry.args) if word and "\0" not in word]
            if words:
                yield shlex.join(words), workspace / server.entry.cwd
    except Unreadable:
        return


def _file_state(file: str) -> str:
    """Return the state of a file: the target of its links, whether it is executable, and a hash of its content."""
    return f"{os.path.realpath(file)} {os.access(file, os.X_OK)} {_file_content(file)}"


def _file_content(file: str) -> str:
    try:
        with open_regular(file) as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        return error.strerror or "unreadable"


def _is_home(places: Places) -> bool:
    return bool(places.user) and _real_folder(Path(str(places.user))) == _real_folder(places.workspace)


def _real_folder(folder: Path) -> str:
    return os.path.realpath(folder)
