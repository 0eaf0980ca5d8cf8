"""The known secrets of one home and environment, and their redaction from what the model reads and the log stores."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec

from halocline.files.absence import Absence
from halocline.files.regular import read_regular
from halocline.protocol import json_input, secrets
from halocline.protocol.errors import SecretsError
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.secrets.values import SHORTEST, secrets_in_environment, secrets_in_mapping
from halocline.runtime.models.keys import Keys
from halocline.store import secrets as stored_secrets
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

_REMEMBERED = 20_000
"""Texts that a redactor for others remembers."""


class KnownValues:
    """Every secret whose value Halocline knows, and the redactor for them.

    These are the keys that `keys` handed out, all secrets stored in files of the home, and the values of variables that
    are named like secrets or are in `names`. A keyring is not read: it might ask the person for a password.
    """

    def __init__(
        self,
        home: Home,
        settings: Settings,
        env: Mapping[str, str],
        names: Callable[[], Iterable[str]],
        keys: Iterable[Keys],
    ) -> None:
        self._home = home
        self._files = (os.fspath(home.credentials), os.fspath(home.mcp))
        self._no_files = Absence(self._files)
        self._settings = settings
        self._env = env
        self._names = names
        self._keys = tuple(keys)
        self._looking = threading.Lock()
        self._seen: tuple[object, ...] = ()
        self._stored: frozenset[str] = frozenset()
        self._looked_for: tuple[frozenset[str], tuple[str, ...]] = (frozenset(), ())

    def redact(self, text: str) -> str:
        """Redact secrets, unless the settings show them."""
        return self._redactor(text) if self._settings.hide_keys else text

    def redact_known(self, text: str) -> str:
        """Redact only known values, unless the settings show them.

        Every event of every task passes here, so the text is checked before anything is loaded.
        """
        is_clean = not self._settings.hide_keys or not any(value in text for value in self._plain())
        return text if is_clean else self._redactor.without_known(text)

    def _plain(self) -> tuple[str, ...]:
        """Return the values, plain and JSON-escaped."""
        if self._looked_for[0] != (values := self.values()):
            as_json = (msgspec.json.encode(value).decode()[1:-1] for value in values)
            self._looked_for = values, tuple(value for value in {*values, *as_json} if len(value) >= SHORTEST)
        return self._looked_for[1]

    def redact_for_others(self, text: str) -> str:
        """Redact a text that leaves this home, whatever the settings say. Marks have no numbers."""
        return self._for_others(text)

    def build_redactor_for_others(self) -> Callable[[str], str]:
        """Return what redacts many texts at once as `redact_for_others` does, with the values of now.

        It looks at each text once: names and numbers repeat in every event, and a task reads many a file again.
        """
        values = self.values()
        return lru_cache(maxsize=_REMEMBERED)(secrets.redaction.Redactor(lambda: values))

    def redact_thoroughly(self, text: str) -> str:
        """Redact a text that a person will share, whatever the settings say."""
        return secrets.redaction.thoroughly_redacted(text, self.values(), str(Path.home()))

    def restored(self, text: str, original: str) -> str:
        """Put redacted values back into an edit's text: see `Redactor.restored`."""
        return self._redactor.restored(text, original)

    def _used(self) -> tuple[Secret, ...]:
        return tuple(secret for keys in self._keys for secret in keys.used)

    def values(self) -> frozenset[str]:
        """Return all known values, as they are now. Any thread may ask."""
        with self._looking:
            stamps = () if self._no_files.lasts() else tuple(map(_read_stamp, self._files))
            seen = (*stamps, len(self._used()))
            if seen != self._seen:
                used = frozenset(secret.reveal() for secret in self._used())
                self._seen, self._stored = seen, frozenset((*used, *self._in_files(), *self._in_environment))
            return self._stored

    @cached_property
    def _redactor(self) -> "secrets.redaction.Redactor":
        return secrets.redaction.Redactor(self.values, stored_secrets.salt.read_salt(self._home.salt), at_random=True)

    @cached_property
    def _for_others(self) -> "secrets.redaction.Redactor":
        return secrets.redaction.Redactor(self.values)

    @cached_property
    def _in_environment(self) -> frozenset[str]:
        return frozenset(secrets_in_environment(self._env, self._names()))

    def _in_files(self) -> Iterator[str]:
        if os.path.lexists(self._home.credentials):
            with suppress(SecretsError):
                kept = stored_secrets.store.SecretStore(self._home.credentials)
                yield from (secret.reveal() for secret in kept.in_file())
        with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):
            yield from secrets_in_mapping(json_input.decode(read_regular(self._home.mcp)))
        for provider in self._settings.providers.values():
            yield from secrets_in_mapping(provider.headers or {})


def _read_stamp(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino
