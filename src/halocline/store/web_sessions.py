"""Browsers signed in to `halo web`, stored so that they stay signed in when the server restarts.

Only public keys are stored, so the file gives no access. The private key never leaves the browser.
"""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.files.durable import write_whole
from halocline.files.regular import read_regular
from halocline.protocol import json_input
from halocline.protocol.errors import SettingsError
from halocline.protocol.values import Value

KEPT = 30 * 86_400.0
"""Seconds without a visit after which a browser is signed out."""
MOST = 50


class Browser(Value, frozen=True, omit_defaults=False):
    """One browser. `name` is its own description; times are in Unix seconds."""

    id: str
    public_key: bytes
    name: str
    added_at: float
    seen_at: float


class Browsers:
    """The browsers of one home. The file is reloaded when another process has changed it."""

    def __init__(self, file: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._clock = clock
        self._read_at = (0, 0)
        self._known: dict[str, Browser] = {}

    def all(self) -> list[Browser]:
        """Return all browsers, the most recent first. Raises SettingsError."""
        self._renew()
        fresh = [one for one in self._known.values() if self._clock() - one.seen_at < KEPT]
        return sorted(fresh, key=lambda one: -one.seen_at)

    def find(self, id: str) -> Browser | None:
        """Find a browser by id. Raises SettingsError."""
        return next((one for one in self.all() if one.id == id), None)

    def add(self, public_key: bytes, name: str) -> Browser:
        """Add a browser, or update its last visit. Raises SettingsError."""
        now, id = self._clock(), id_of(public_key)
        known = self.find(id)
        browser = replace(known, seen_at=now) if known else Browser(id, public_key, name, now, now)
        others = [one for one in self.all() if one.id != id]
        self._write([browser, *others[: MOST - 1]])
        return browser

    def remove(self, id: str) -> bool:
        """Sign a browser out; False if the id is unknown. Raises SettingsError."""
        kept = [one for one in self.all() if one.id != id]
        if len(kept) == len(self.all()):
            return False
        self._write(kept)
        return True

    def _renew(self) -> None:
        try:
            stat = self._file.stat()
            if self._read_at == (stat.st_mtime_ns, stat.st_ino):
                return
            found = json_input.decode(read_regular(self._file), type=list[Browser])
        except FileNotFoundError:
            self._known, self._read_at = {}, (0, 0)
            return
        except (OSError, msgspec.DecodeError) as error:
            text, hint = f"Cannot read {self._file}: {error}.", "Delete it and sign in again in each browser."
            raise SettingsError(text, hint) from error
        self._known, self._read_at = {one.id: one for one in found}, (stat.st_mtime_ns, stat.st_ino)

    def _write(self, browsers: list[Browser]) -> None:
        try:
            write_whole(self._file, msgspec.json.format(msgspec.json.encode(browsers), indent=1), 0o600)
        except OSError as error:
            raise SettingsError(
                f"Cannot write {self._file}: {error.strerror}.", "No browser was signed in or out."
            ) from error


def id_of(public_key: bytes) -> str:
    return hashlib.sha256(public_key).hexdigest()[:12]
