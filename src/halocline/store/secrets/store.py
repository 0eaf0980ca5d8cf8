"""Stored keys, by name: in the system's keyring if there is one, else in the file `credentials`.

What must stay true: the file is private to its owner, is replaced atomically, and is not used if others could have
read or changed it. It also lists the names of keys in the keyring, so that looking up a name never asks the keyring.
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

from halocline.files.durable import sync_path, write_whole
from halocline.protocol.errors import SecretsError
from halocline.protocol.file_locks import LockHeld, lock_file
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value

if TYPE_CHECKING:
    from halocline.store.secrets.keyring import SystemKeyring

PATIENCE = 60.0
"""Timeout of the keyring in seconds; the user may have to type a password first."""
_LARGEST = 1 << 20
_OTHERS = 0o077
_OTHERS_WRITE = 0o022


class Place(StrEnum):
    """Storage of a secret."""

    FILE = "file"
    KEYRING = "keyring"


class Entry(Value, frozen=True):
    """One entry of the file. Without a `value`, the secret is in the keyring."""

    value: Secret | None = None

    @property
    def place(self) -> Place:
        return Place.KEYRING if self.value is None else Place.FILE


class SecretStore:
    """The secrets of one home. Processes may share it. All methods may raise SecretsError.

    The keyring may ask the user to unlock it; `patience` is its timeout in seconds.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self._path = path
        self._patience = patience

    @cached_property
    def _keyring(self) -> "SystemKeyring":
        from halocline.store.secrets.keyring import SystemKeyring  # not needed if the key is in the file

        return SystemKeyring(f"halocline ({self._path.parent})", self._patience)

    def places(self) -> dict[str, Place]:
        """Return all names, and where each secret is stored. Does not ask the keyring."""
        return {name: entry.place for name, entry in self._read().items()}

    def get(self, name: str) -> Secret | None:
        """Return a secret by name; None if it is not stored."""
        entry = self._read().get(name)
        if entry is None:
            return None
        if entry.value is not None:
            return entry.value
        found = self._keyring.get(name)
        if found is None:
            text = f"The key {name!r} was stored in the system's keyring, but is no longer there."
            raise SecretsError(text, f"Store it again: halo login {name.partition('@')[0]}")
        return found

    def in_file(self) -> Iterator[Secret]:
        """Return the secrets stored in the file itself. Does not ask the keyring."""
        return (entry.value for entry in self._read().values() if entry.value is not None)

    def put(self, name: str, secret: Secret) -> Place:
        """Store a secret, replacing any of that name, and return where it is stored."""
        with self._changing() as entries:
            kept = self._keyring.put(name, secret)
            entries[name] = Entry() if kept else Entry(secret)
            return entries[name].place

    def remove(self, name: str) -> bool:
        """Remove a secret. False if there is none."""
        with self._changing() as entries:
            entry = entries.get(name)
            if entry is not None and entry.place is Place.KEYRING:
                self._keyring.remove(name)
            return entries.pop(name, None) is not None

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Entry]]:
        """Lock the entries for changing, and write them back at the end."""
        try:
            _close_to_others(self._path.parent)
            with lock_file(self._path.with_name(f"{self._path.name}.lock"), "is changing the stored keys"):
                entries = self._read()
                before = dict(entries)
                yield entries
                if entries != before:
                    self._write(entries)
        except LockHeld as error:
            raise SecretsError(f"No key was stored or removed: {error}.") from error
        except OSError as error:
            text = f"Cannot write keys to {self._path}: {error.strerror or error}."
            raise SecretsError(text, "Check the folder's permissions and free disk space.") from error

    def _write(self, entries: Mapping[str, Entry]) -> None:
        """Write the file durably: a vendor may show a key only once, so it must not get lost."""
        if entries:
            write_whole(self._path, _encode_entries(entries))
        else:
            self._path.unlink()
            sync_path(self._path.parent)  # a removed key must not come back

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
    """Raise SecretsError if others have access to the file, or write access to its folder."""
    if not stat.S_ISREG(found.st_mode):
        raise SecretsError(f"{path} is not a regular file.", "Move it away and store the keys again: halo login")
    if found.st_uid != os.geteuid():
        text = f"{path} belongs to another user, so its keys are not used."
        raise SecretsError(text, "Move it away and store the keys again: halo login")
    if found.st_mode & _OTHERS:
        text = f"Other users can access {path} (mode {stat.S_IMODE(found.st_mode):o}), so its keys are not used."
        raise SecretsError(text, f"Run: chmod 600 {path}  If others may have read it, create new keys.")
    if path.parent.stat().st_mode & _OTHERS_WRITE:
        text = f"Other users can change files in {path.parent}, so the keys in it are not used."
        raise SecretsError(text, f"Run: chmod 700 {path.parent}")


def _close_to_others(folder: Path) -> None:
    """Make Halocline's folder private, unless others have write access: then it may be theirs too."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & _OTHERS_WRITE:
        text = f"Other users can change files in {folder}, so no key is stored there."
        raise SecretsError(text, f"Run: chmod 700 {folder}")
    if mode & _OTHERS:
        folder.chmod(mode & ~_OTHERS)


def _not_opened(path: Path, error: OSError) -> SecretsError:
    if error.errno == ELOOP:
        text = f"{path} is a link, so its keys are not used."
        return SecretsError(text, "Move it away and store the keys again: halo login")
    return SecretsError(f"Cannot read {path}: {error.strerror}.", "Check its permissions.")


def _encode_entries(entries: Mapping[str, Entry]) -> bytes:
    data = msgspec.json.encode(entries, enc_hook=Secret.reveal, order="deterministic")
    return msgspec.json.format(data, indent=2) + b"\n"


def _decode_entries(data: bytes, path: Path) -> dict[str, Entry]:
    try:
        return msgspec.json.decode(data, type=dict[str, Entry], dec_hook=_make_secret)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # `from None`: the cause may show the file's content.
        where = error if isinstance(error, msgspec.DecodeError) else "it is not UTF-8"
        text = f"Cannot read the keys in {path}: {where}."
        raise SecretsError(text, "Fix the file, or move it away and store the keys again: halo login") from None


def _make_secret(kind: type, value: Any) -> Secret:
    if not isinstance(value, str):
        raise msgspec.ValidationError("Expected `str`")
    return Secret(value)
