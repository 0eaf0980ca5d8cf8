"""Keys that a person stored, by name: in the system's keyring where there is one, else in the file `credentials`.

What must stay true: the file is its owner's alone, is replaced whole, and is not believed when others could have read
or changed it. What is in the keyring has its name in the file, so that looking for a name never wakes the keyring.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from errno import ELOOP
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from halocline.protocol.errors import SecretsError
from halocline.protocol.file_locks import LockHeld, lock_file
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value
from halocline.store.atomic_file import sync_names, write_whole

if TYPE_CHECKING:
    from halocline.store.secrets.keyring import SystemKeyring

PATIENCE = 60.0
"""Seconds for the keyring's answer; a person may have to type a password first."""
_LARGEST = 1 << 20
_OTHERS = 0o077
_OTHERS_WRITE = 0o022


class Place(StrEnum):
    """Where a secret is kept."""

    FILE = "file"
    KEYRING = "keyring"


class Entry(Value, frozen=True):
    """One secret of the file. Without a `value` it is in the keyring."""

    value: Secret | None = None

    @property
    def place(self) -> Place:
        return Place.KEYRING if self.value is None else Place.FILE


class SecretStore:
    """The secrets of one home. Many processes may use it at once. Everything may raise SecretsError.

    The keyring may ask a person to unlock it, and is waited for `patience` seconds.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self._path = path
        self._patience = patience

    @cached_property
    def _keyring(self) -> "SystemKeyring":
        from halocline.store.secrets.keyring import SystemKeyring  # which a start with a key in the file does not need

        return SystemKeyring(f"halocline ({self._path.parent})", self._patience)

    def places(self) -> dict[str, Place]:
        """Which names there are, and where each secret is. Does not ask the keyring."""
        return {name: entry.place for name, entry in self._read().items()}

    def get(self, name: str) -> Secret | None:
        """The secret of that name."""
        entry = self._read().get(name)
        if entry is None:
            return None
        if entry.value is not None:
            return entry.value
        found = self._keyring.get(name)
        if found is None:
            text = f"The keyring no longer holds the key {name!r} that was stored there."
            raise SecretsError(text, f"Store it again: halo login {name.partition('@')[0]}")
        return found

    def in_file(self) -> Iterator[Secret]:
        """Those that the file itself holds. Does not ask the keyring."""
        return (entry.value for entry in self._read().values() if entry.value is not None)

    def put(self, name: str, secret: Secret) -> Place:
        """Keep a secret, in place of an older one of that name, and say where."""
        with self._changing() as entries:
            kept = self._keyring.put(name, secret)
            entries[name] = Entry() if kept else Entry(secret)
            return entries[name].place

    def remove(self, name: str) -> bool:
        """Forget a secret. False when there was none."""
        with self._changing() as entries:
            entry = entries.get(name)
            if entry is not None and entry.place is Place.KEYRING:
                self._keyring.remove(name)
            return entries.pop(name, None) is not None

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Entry]]:
        """The entries, to be changed: written back at the end, and nobody else changes them meanwhile."""
        try:
            _close_to_others(self._path.parent)
            with lock_file(self._path.with_name(f"{self._path.name}.lock"), "is changing the stored keys"):
                entries = self._read()
                before = dict(entries)
                yield entries
                if entries != before:
                    self._write(entries)
        except LockHeld as error:
            raise SecretsError(f"No key was stored or removed. {error}.") from error
        except OSError as error:
            text = f"The keys cannot be written to {self._path}: {error.strerror or error}."
            raise SecretsError(text, "Check the folder and the disk.") from error

    def _write(self, entries: Mapping[str, Entry]) -> None:
        """A key may be shown by its maker only once, so it must not be lost."""
        if entries:
            write_whole(self._path, _encode_entries(entries))
        else:
            self._path.unlink()
            sync_names(self._path.parent)  # a key that was removed does not come back

    def _read(self) -> dict[str, Entry]:
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _not_opened(self._path, error) from error
        try:
            _require_private(self._path, os.fstat(fd))
            return _decode_entries(os.read(fd, _LARGEST), self._path)
        finally:
            os.close(fd)


def _require_private(path: Path, found: os.stat_result) -> None:
    """Raises SecretsError for a file, or a folder around it, that others can get at."""
    if not stat.S_ISREG(found.st_mode):
        raise SecretsError(f"{path} is no regular file.", "Move it away, and store the keys again: halo login")
    if found.st_uid != os.geteuid():
        text = f"{path} belongs to another user, so its keys are not used."
        raise SecretsError(text, "Move it away, and store the keys again: halo login")
    if found.st_mode & _OTHERS:
        text = f"Others can get at {path} (mode {stat.S_IMODE(found.st_mode):o}), so its keys are not used."
        raise SecretsError(text, f"Close it: chmod 600 {path}  If others may have read it, get new keys.")
    if path.parent.stat().st_mode & _OTHERS_WRITE:
        text = f"Others can change files in {path.parent}, so the keys in it are not used."
        raise SecretsError(text, f"Close it: chmod 700 {path.parent}")


def _close_to_others(folder: Path) -> None:
    """Make Halocline's folder private. One that others may write is theirs, too, and not ours to close."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & _OTHERS_WRITE:
        text = f"Others can change files in {folder}, so no key is stored there."
        raise SecretsError(text, f"Close it: chmod 700 {folder}")
    if mode & _OTHERS:
        folder.chmod(mode & ~_OTHERS)


def _not_opened(path: Path, error: OSError) -> SecretsError:
    if error.errno == ELOOP:
        text = f"{path} is a link, so its keys are not used."
        return SecretsError(text, "Move it away, and store the keys again: halo login")
    return SecretsError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.")


def _encode_entries(entries: Mapping[str, Entry]) -> bytes:
    data = msgspec.json.encode(entries, enc_hook=Secret.reveal, order="deterministic")
    return msgspec.json.format(data, indent=2) + b"\n"


def _decode_entries(data: bytes, path: Path) -> dict[str, Entry]:
    try:
        return msgspec.json.decode(data, type=dict[str, Entry], dec_hook=_make_secret)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # The cause may show what is in the file.
        where = error if isinstance(error, msgspec.DecodeError) else "it is not UTF-8"
        text = f"The keys in {path} cannot be read: {where}."
        raise SecretsError(text, "Correct the file, or move it away and store the keys again: halo login") from None


def _make_secret(kind: type, value: Any) -> Secret:
    if not isinstance(value, str):
        raise msgspec.ValidationError("Expected `str`")
    return Secret(value)
