"""The assembly in force for each folder: settings files that changed are read again, without a restart.

What must stay true: a file that cannot be used changes nothing; the settings before it stay in force, with a notice.
"""

import os
from pathlib import Path

from halocline.files.stamp import read_stamp
from halocline.protocol.errors import SettingsError
from halocline.protocol.state.state import State
from halocline.runtime.assembly.assembly import Assembly
from halocline.store.paths import PROJECT_SETTINGS

Stamps = tuple[tuple[int, int, int] | None, ...]
Key = tuple[Path, tuple[str, ...], bool]
KEPT = "{text} The settings from before stay in force."


class AssembliesInForce:
    """Assemblies of one process. `own` is that of the person's settings, outside any folder."""

    def __init__(self, own: Assembly) -> None:
        self._own = own
        own.by_folder = self.of
        self._read = self._stamp_own()
        self._folders: dict[Key, tuple[Stamps, Assembly]] = {}
        self.problem = ""
        """Why a changed settings file is not in force; empty if it is."""

    @property
    def own(self) -> Assembly:
        """The assembly of the person's settings as they are now."""
        if self._own.choices is not None and (stamps := self._stamp_own()) != self._read:
            self._read, self.problem = stamps, ""
            try:
                self.replace(Assembly.of(self._own.choices, self._own.given_env, home=self._own.home))
            except SettingsError as error:
                self.problem = KEPT.format(text=error.text)
        return self._own

    def replace(self, new: Assembly) -> None:
        """Use another assembly from now on; what tasks share, such as MCP servers, stays."""
        new.is_watched, new.shared = self._own.is_watched, self._own.shared
        self._own, new.by_folder, self._read = new, self.of, self._stamp_own()
        self._folders.clear()

    def of(self, folder: Path | str, roots: tuple[str, ...] = (), *, trusted: bool = False) -> Assembly:
        """Return the assembly for a folder and a task's other `roots`, with the settings of their own files."""
        own = self.own
        stamps = tuple(read_stamp(os.path.join(place, PROJECT_SETTINGS)) for place in (folder, *roots))
        if not any(stamps):
            return own
        workspace = Path(folder)
        key = (workspace, roots, trusted)
        stamps += (read_stamp(own.home.trust),)
        read = self._folders.get(key)
        if read is None or read[0] != stamps:
            read = self._folders[key] = (stamps, self._read_folders(workspace, roots, own, trusted=trusted))
        return read[1]

    def of_task(self, state: State, *, trusted: bool = False) -> Assembly:
        """Return the assembly for the folders of a task."""
        return self.of(state.workspace, state.roots, trusted=trusted)

    def remarks(self, assembly: Assembly) -> tuple[str, ...]:
        """Return what of the settings is not in force, for the person."""
        return (*filter(None, (self.problem,)), *assembly.refused)

    def _read_folders(self, workspace: Path, roots: tuple[str, ...], own: Assembly, *, trusted: bool) -> Assembly:
        found = own.in_folder(workspace, roots, trusted=trusted)
        found.by_folder = self.of
        return found

    def _stamp_own(self) -> Stamps:
        return read_stamp(self._own.home.settings), read_stamp(self._own.home.managed_settings)
