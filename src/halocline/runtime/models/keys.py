"""Whose key is used: the flag's, then the environment's, then the one that `halo login` stored for that very server.

The store is only read when the first two have nothing, and a keyring only when the key is in it.
"""

import asyncio
import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.vendors import VENDORS, Vendor
from halocline.providers.endpoint import base_url_of
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

if TYPE_CHECKING:
    from halocline.store.secrets.store import Place, SecretStore


class FoundKey(Value, frozen=True):
    """A key, and where it is from, as a person would look for it."""

    key: Secret
    source: str


class Keys:
    """The keys that one run may use. A `given` one is for whichever vendor is asked, `base_url` is where.

    `used` are those that were handed out.
    """

    def __init__(self, home: Home, env: Mapping[str, str], given: FoundKey | None = None, base_url: str = "") -> None:
        self._home = home
        self._env = env
        self._given = given
        self._base_url = base_url
        self.used: list[Secret] = []

    async def find(self, vendor: Vendor) -> FoundKey | None:
        """The key for a vendor's server, at the address where this run asks it. Raises SecretsError."""
        if found := self._given or environment_key(vendor, self._env) or await self._from_store(vendor):
            self.used.append(found.key)
        return found

    async def _from_store(self, vendor: Vendor) -> FoundKey | None:
        name = self._stored_name(vendor)
        if not name:
            return None
        if self._stored[name] == "keyring":  # which may ask a person for its password, and keep us waiting
            secret = await asyncio.to_thread(self.store.get, name)
        else:
            secret = self.store.get(name)
        return FoundKey(secret, stored_source(name)) if secret else None

    def in_environment(self, vendor: Vendor) -> bool:
        """Whether a variable holds a key."""
        return bool(vendor.key_in(self._env))

    def source(self, vendor: Vendor) -> str:
        """Where the environment or the store has a key; empty when neither has. Raises SecretsError."""
        if found := environment_key(vendor, self._env):
            return found.source
        name = self._stored_name(vendor)
        return stored_source(name) if name else ""

    @cached_property
    def store(self) -> "SecretStore":
        from halocline.store.secrets.store import SecretStore

        return SecretStore(self._home.credentials)

    def _stored_name(self, vendor: Vendor) -> str:
        """Under which name the key for the vendor's server is stored; empty when it is not."""
        if not vendor.key_variable or not self._stored:
            return ""
        from halocline.providers.auth.accounts import secret_name

        name = secret_name(vendor, base_url_of(vendor, self._env, self._base_url))
        return name if name in self._stored else ""

    @cached_property
    def _stored(self) -> "Mapping[str, Place]":
        return self.store.places() if os.path.lexists(self._home.credentials) else {}


def environment_key(vendor: Vendor, env: Mapping[str, str]) -> FoundKey | None:
    """The key in the first of the vendor's variables that holds one."""
    key = vendor.key_in(env)
    variable = next((name for name in vendor.key_variables if env.get(name, "").strip() == key), "")
    return FoundKey(Secret(key), variable) if key else None


def stored_source(name: str) -> str:
    """How a stored key is called: by the command that stored it."""
    provider, _, place = name.partition("@")
    return f"halo login {provider}" + (f" --base-url {place}" if place else "")


def key_variables(settings: Settings, env: Mapping[str, str], catalogue: Catalogue) -> frozenset[str]:
    """The variables that commands must not see: keys of our rows, of a person's own, of the catalogue's."""
    rows = {name for vendor in VENDORS.values() if not vendor.shared_key for name in vendor.key_variables}
    own = {provider.key_variable for provider in settings.providers.values() if provider.key_variable}
    others = {name for name in env if name.endswith("_API_KEY")} - rows - own
    if others:
        from halocline.hosts.web.engines import ENGINES

        own |= {engine.key_variable for engine in ENGINES.values()} & others
        others -= own
    if others:
        others &= {name for entry in catalogue.providers().values() for name in entry.env}
    return frozenset(rows | own | others)
