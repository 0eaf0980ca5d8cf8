"""Find the key to use: from the flag, then the environment, then the one `halo login` stored for that very server.

The store is read only if the first two have none, and a keyring only if the key is in it.
"""

import asyncio
import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from halocline import providers
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import base_url_of
from halocline.runtime.models.vendors import token_variable
from halocline.store import secrets
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

if TYPE_CHECKING:
    from halocline.providers.auth.oidc import SignedIn
    from halocline.store.secrets.store import Place, SecretStore


class FoundKey(Value, frozen=True):
    """A key and its source, as a person would look for it."""

    key: Secret
    source: str


class Keys:
    """The keys that one run may use. A `given` key applies to any vendor; `base_url` is the server's address.

    `used` are the keys that were handed out.
    """

    def __init__(self, home: Home, env: Mapping[str, str], given: FoundKey | None = None, base_url: str = "") -> None:
        self._home = home
        self._env = env
        self._given = given
        self._base_url = base_url
        self.used: list[Secret] = []

    async def find(self, vendor: Vendor) -> FoundKey | None:
        """Return the key for a vendor's server at this run's address. Raises SecretsError."""
        if self._given is None:
            return await self.find_own(vendor)
        self.used.append(self._given.key)
        return self._given

    async def find_own(self, vendor: Vendor) -> FoundKey | None:
        """Return a vendor's own key, never one that was given for whatever this run uses. Raises SecretsError."""
        if found := environment_key(vendor, self._env) or await self._from_store(vendor):
            self.used.append(found.key)
        return found

    async def find_for_list(self, vendor: Vendor) -> FoundKey | None:
        """Return the key with which a vendor's server is asked for its models; a given one is for this run's address.

        Raises SecretsError.
        """
        is_this = bool(self._base_url) and vendor.base_url == self._base_url
        return await (self.find(vendor) if is_this else self.find_own(vendor))

    async def _from_store(self, vendor: Vendor) -> FoundKey | None:
        name = self._stored_name(vendor)
        if not name:
            return None
        if self._stored_places[name] == "keyring":  # may block while it asks the person for a password
            secret = await asyncio.to_thread(self.store.get, name)
        else:
            secret = self.store.get(name)
        return FoundKey(secret, stored_source(name)) if secret else None

    async def reload(self, vendor: Vendor) -> Secret | None:
        """Return the key that is stored for a vendor's server now; another process may have replaced it."""
        name = self._stored_name(vendor)
        return await asyncio.to_thread(self.store.get, name) if name else None

    async def replace(self, vendor: Vendor, key: Secret) -> None:
        """Replace the stored key for a vendor's server, if there is one. Raises SecretsError."""
        if name := self._stored_name(vendor):
            await asyncio.to_thread(self.store.put, name, key)

    def in_environment(self, vendor: Vendor) -> bool:
        """True if an environment variable holds a key."""
        return bool(vendor.key_in(self._env))

    def find_address(self, vendor: Vendor) -> str:
        """Return the address of a vendor's server: in its variable, or its own."""
        return base_url_of(vendor, self._env)

    def source(self, vendor: Vendor) -> str:
        """Return the source of a key in the environment or the store; empty if neither has one. Raises SecretsError."""
        if found := environment_key(vendor, self._env):
            return found.source
        name = self._stored_name(vendor)
        return stored_source(name) if name else ""

    def has_key(self, vendor: Vendor) -> bool:
        """True if there is a key; one that was given for this run is for any vendor. Raises SecretsError."""
        return self._given is not None or bool(self.source(vendor))

    @cached_property
    def store(self) -> "SecretStore":
        return secrets.store.SecretStore(self._home.credentials)

    def _stored_name(self, vendor: Vendor) -> str:
        """Return the name under which the key for the vendor's server is stored; empty if it is not."""
        if not vendor.key_variable or not self._stored_places:
            return ""
        name = providers.auth.accounts.secret_name(vendor, base_url_of(vendor, self._env, self._base_url))
        return name if name in self._stored_places else ""

    @cached_property
    def _stored_places(self) -> "Mapping[str, Place]":
        return self.store.places() if os.path.lexists(self._home.credentials) else {}


class StoredSignIn:
    """A sign-in in the store, in place of a vendor's key. Its tokens are known as secrets."""

    def __init__(self, keys: Keys, vendor: Vendor, found: "SignedIn") -> None:
        self._keys = keys
        self._vendor = vendor
        keys.used += found.secrets

    async def load(self) -> "SignedIn | None":
        """Return it as it is stored now. Raises SecretsError."""
        stored = await self._keys.reload(self._vendor)
        return providers.auth.oidc.read_sign_in(stored.reveal()) if stored else None

    async def keep(self, renewed: "SignedIn") -> None:
        """Store it after a renewal. Raises SecretsError."""
        self._keys.used += renewed.secrets
        await self._keys.replace(self._vendor, providers.auth.oidc.encode_sign_in(renewed))


def environment_key(vendor: Vendor, env: Mapping[str, str]) -> FoundKey | None:
    """Return the key in the first of the vendor's variables that has one."""
    key = vendor.key_in(env)
    variable = next((name for name in vendor.key_variables if env.get(name, "").strip() == key), "")
    return FoundKey(Secret(key), variable) if key else None


def stored_source(name: str) -> str:
    """Describe a stored key by the command that stored it."""
    provider, _, place = name.partition("@")
    return f"halo login {provider}" + (f" --base-url {place}" if place else "")


def key_variables(settings: Settings, env: Mapping[str, str], catalogue: Catalogue) -> frozenset[str]:
    """Return the variables hidden from commands: keys of built-in providers, of the person's, of the catalogue's."""
    rows = {name for vendor in VENDORS.values() if not vendor.shared_key for name in vendor.key_variables}
    own = {provider.key_variable for provider in settings.providers.values() if provider.key_variable}
    own |= {token_variable(name) for name, provider in settings.providers.items() if provider.sign_in}
    others = {name for name in env if name.endswith("_API_KEY")} - rows - own
    if others:
        from halocline.hosts.web.engines import ENGINES

        own |= {engine.key_variable for engine in ENGINES.values()} & others
        others -= own
    if others:
        others &= {name for entry in catalogue.providers().values() for name in entry.env}
    return frozenset(rows | own | others)
