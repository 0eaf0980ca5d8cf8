"""Files that steer Halocline, for a person who edits them: rules, workflows, commands, skills, agents and settings.

What must stay true: only a file in one of the table's locations is read or written, a project's never through a link
that leads out of it; the administrator's are not written. A file that changed meanwhile is not overwritten, and
settings that cannot be read are not saved. Writing a file trusts nothing: a folder's trust stays as it is.
"""

import asyncio
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from halocline.context.instructions.places import Roots
from halocline.files.regular import read_regular
from halocline.policy.paths import is_within
from halocline.ports.blobs import blob_reference
from halocline.ports.host import FileChangedOutside
from halocline.protocol.config_locations import LOCATIONS, NESTED, NESTED_ROWS, Row
from halocline.protocol.errors import SettingsError, UsageError
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.values import Value
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.parts.files import files_within
from halocline.runtime.rules.live import roots_of
from halocline.store.paths import PROJECT_SETTINGS
from halocline.store.settings.load import check_settings

LARGEST = 2**20
MOST_FILES = 500
_EDITED = frozenset({"rules", "skills", "agents", "workflows", "commands"})
"""The kinds of files that are edited here: hooks and servers start programs, and have pages of their own."""
_SKILL = ("SKILL.md",)
_IN_EDITOR = "Open it in your editor."


class ConfigFile(Value, frozen=True, omit_defaults=False):
    """A file and what it holds; `shown` is its path for display."""

    path: str
    shown: str
    holds: str
    is_managed: bool = False


class ConfigText(Value, frozen=True, omit_defaults=False):
    """The text of a file; its `version` is given back when it is saved, so that nothing is overwritten."""

    path: str
    text: str
    version: str


class ConfigFiles:
    """The files for one folder."""

    def __init__(self, workspace: Path, assembly: Assembly, env: Mapping[str, str]) -> None:
        self._home = assembly.home
        self._roots: Roots = roots_of(workspace, assembly.home, env)

    @classmethod
    def open(cls, workspace: Path) -> "ConfigFiles":
        """Read the home and the settings. Raises UsageError and SettingsError."""
        return cls(workspace, Assembly.of(Choices()).in_folder(workspace), os.environ)

    def list(self) -> list[ConfigFile]:
        """List the files that are there; of settings also where they would be."""
        found: dict[str, ConfigFile] = {}
        for row in LOCATIONS:
            if row.holds in _EDITED and not row.imported and (place := self._roots.path(row)):
                for path in _files_of(row, place):
                    found.setdefault(str(path), self._describe(path, row))
        for path in self._settings_files:
            found[str(path)] = ConfigFile(str(path), self._roots.shown(str(path)), "settings")
        return [*found.values()][:MOST_FILES]

    def read(self, path: str) -> ConfigText:
        """Return the text of a file, empty if it is not there yet. Raises UsageError."""
        place = self._admit(path)
        data = self._read_bytes(place)
        try:
            text = (data or b"").decode()
        except UnicodeDecodeError:
            raise UsageError(f"{path} is not UTF-8 text.", _IN_EDITOR) from None
        if redact_text(text) != text:
            raise UsageError(f"{path} holds what looks like a key, so it is not shown.", _IN_EDITOR)
        return ConfigText(str(place), text, "" if data is None else blob_reference(data))

    async def write(self, path: str, text: str, version: str) -> ConfigText:
        """Save a file whose version was read before; without one, make it. Raises UsageError."""
        place = self._admit(path)
        if self._describe_owner(place) == "managed":
            raise UsageError(f"{path} is managed by your administrator.", "You cannot change it.")
        if place in self._settings_files:
            _check_settings_text(place, text)
        before = await asyncio.to_thread(self._read_bytes, place)
        if ("" if before is None else blob_reference(before)) != version:
            raise UsageError(f"{path} was changed meanwhile.", "Copy your text, then load the file again.")
        data = text.encode()
        try:
            await files_within(places=(str(place),)).write(place, data, before)
        except FileChangedOutside:
            raise UsageError(f"{path} was changed meanwhile.", "Copy your text, then load the file again.") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be saved: {error.strerror}.", "Check its permissions.") from error
        return ConfigText(str(place), text, blob_reference(data))

    @property
    def _settings_files(self) -> tuple[Path, ...]:
        own, project = self._home.settings, self._roots.workspace / PROJECT_SETTINGS
        return own, project

    def _read_bytes(self, place: Path) -> bytes | None:
        try:
            return read_regular(place, LARGEST)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise UsageError(f"{place} cannot be read: {error.strerror}.", _IN_EDITOR) from error

    def _admit(self, path: str) -> Path:
        """Return the resolved place of a file in one of the locations. Raises UsageError."""
        named = Path(os.path.normpath(path))
        if "\0" in path or not named.is_absolute() or not self._is_listed(named):
            raise UsageError(f"{path} is not a file that Halocline reads its instructions or settings from.", "")
        place = Path(os.path.realpath(named))
        project = os.path.realpath(self._roots.project)
        if is_within(str(named), str(self._roots.project)) and not is_within(str(place), project):
            raise UsageError(f"{path} is a link that leads out of the project.", _IN_EDITOR)
        return place

    def _is_listed(self, path: Path) -> bool:
        if path in self._settings_files:
            return True
        if is_within(str(path), str(self._roots.workspace)) and path.name in NESTED:
            return True
        rows = [row for row in LOCATIONS if row.holds in _EDITED and not row.imported]
        fixed = any(_covers(row, place, path) for row in rows if (place := self._roots.path(row)))
        return fixed or any(
            _covers(row, folder / row.path, path)
            for row in NESTED_ROWS
            for folder in path.parents
            if is_within(str(folder), str(self._roots.workspace))
        )

    def _describe(self, path: Path, row: Row) -> ConfigFile:
        return ConfigFile(str(path), self._roots.shown(str(path)), row.holds, row.owner == "managed")

    def _describe_owner(self, place: Path) -> str:
        managed = self._roots.managed
        return "managed" if managed and is_within(str(place), str(managed)) else ""


def _covers(row: Row, place: Path, path: Path) -> bool:
    """True if a path is a file of this location."""
    if row.holds == "skills":
        return path.name in _SKILL and path.parent.parent == place
    return path == place if not row.endings else path.name.endswith(row.endings) and is_within(str(path), str(place))


def _files_of(row: Row, place: Path) -> Iterator[Path]:
    if row.holds == "skills":
        yield from sorted(place.glob("*/SKILL.md"))[:MOST_FILES]
    elif row.endings and place.is_dir():
        found = (path for path in sorted(place.rglob("*")) if path.name.endswith(row.endings) and path.is_file())
        yield from [path for path, _ in zip(found, range(MOST_FILES), strict=False)]
    elif place.is_file():
        yield place


def _check_settings_text(place: Path, text: str) -> None:
    try:
        given = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"This is not valid TOML: {error}.", "Nothing was saved.") from error
    try:
        check_settings(given, str(place))
    except SettingsError as error:
        raise UsageError(error.text, f"{error.hint} Nothing was saved.".strip()) from error
