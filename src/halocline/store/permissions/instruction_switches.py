"""Rule files that the user switched off: by absolute path, for one workspace or for all."""

from pathlib import Path

import msgspec

from halocline.files.durable import write_whole
from halocline.files.regular import read_regular
from halocline.protocol.errors import SettingsError
from halocline.protocol.values import Value

EVERYWHERE = ""
"""Key for switches that apply to all workspaces."""


class Switches(Value, frozen=True):
    """Content of the file: paths that are off, by workspace."""

    off: dict[str, tuple[str, ...]] = {}


class RuleSwitches:
    """The switches of one home."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def off(self, workspace: Path) -> frozenset[str]:
        """Return the files that are off in a workspace. Raises SettingsError."""
        known = self._read().off
        return frozenset((*known.get(EVERYWHERE, ()), *known.get(str(workspace), ())))

    def switch(self, path: str, workspace: Path | None, *, on: bool) -> bool:
        """Switch a file on or off, in one workspace or (None) in all. False if unchanged. Raises SettingsError."""
        known = dict(self._read().off)
        place = str(workspace) if workspace else EVERYWHERE
        before = known.get(place, ())
        if (path not in before) is on:
            return False
        known[place] = tuple(one for one in before if one != path) if on else (*before, path)
        self._write(Switches({name: paths for name, paths in known.items() if paths}))
        return True

    def _read(self) -> Switches:
        try:
            return msgspec.json.decode(read_regular(self._file), type=Switches)
        except FileNotFoundError:
            return Switches()
        except (OSError, msgspec.DecodeError) as error:
            raise SettingsError(
                f"Cannot read {self._file}: {error}.", "Fix it, or move it away to switch all rules on."
            ) from error

    def _write(self, switches: Switches) -> None:
        try:
            write_whole(self._file, msgspec.json.format(msgspec.json.encode(switches), indent=1))
        except OSError as error:
            raise SettingsError(f"Cannot write {self._file}: {error.strerror}.", "Nothing was changed.") from error
