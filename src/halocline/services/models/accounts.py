"""API keys of providers: list them with their source, test one, store one, delete one.

A key goes only to its own server and to the store; a person sees at most its last four characters.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from msgspec.structs import replace

from halocline.net.network import Network
from halocline.ports.blobs import Blobs
from halocline.protocol.errors import ModelError, UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value
from halocline.providers.auth import accounts, oidc
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint, base_url_of
from halocline.providers.model_list import ModelDirectory
from halocline.runtime.assembly.search_engine import engine_url, engine_vendors, try_engine
from halocline.runtime.models.connection_test import ModelConnection, try_connection
from halocline.runtime.models.keys import FoundKey, Keys, environment_key
from halocline.runtime.models.model_names import NO_CHAT, newest_first
from halocline.runtime.models.resolve import build_client, resolve_endpoint
from halocline.runtime.models.vendors import find_vendor
from halocline.runtime.network import choose_network, find_network, shorten_timeouts
from halocline.services.models.sign_in import SignIn
from halocline.store.paths import Home
from halocline.store.secrets.store import Place, SecretStore
from halocline.store.settings.load import with_overrides
from halocline.store.settings.settings import Settings


class Account(Value, frozen=True):
    """A provider that takes keys. `variable` names the environment variable with a key, which overrides a stored one.

    `tail` is the end of the key in use, `stored` the place of a key for the provider's own server (`file`, `keyring`),
    `elsewhere` lists other servers that have one. `searches`: it is a search engine, not a model's provider.
    `needs_address`: it has no server of its own. `server` is the one that the settings name instead, as in `elsewhere`.
    """

    provider: str
    title: str
    keys_page: str = ""
    signs_in: bool = False
    variable: str = ""
    tail: str = ""
    stored: str = ""
    elsewhere: tuple[str, ...] = ()
    searches: bool = False
    needs_address: bool = False
    server: str = ""
    stored_for_server: str = ""
    """The place of the key for `server`."""

    @property
    def has_key(self) -> bool:
        return bool(self.variable or self.stored)


class StoredKey(Value, frozen=True):
    """A stored key; `place` is `file` or `keyring`.

    `server` is empty for the provider's own; `variable` names an environment variable that still overrides the key.
    `tail` is the key's end; empty for a sign-in.
    """

    place: str
    path: str
    server: str = ""
    variable: str = ""
    tail: str = ""


class Accounts:
    """The accounts of one home. Methods that use the store may raise SecretsError."""

    def __init__(
        self, home: Home, settings: Settings, env: Mapping[str, str], blobs: Blobs, catalogue: Catalogue
    ) -> None:
        self._home = home
        self._settings = settings
        self._env = env
        self._blobs = blobs
        self._catalogue = catalogue
        self._store = SecretStore(home.credentials)

    @property
    def base_url(self) -> str:
        """The address that takes the place of every provider's own; empty if there is none."""
        return self._settings.base_url

    def all(self) -> list[Account]:
        """Return every provider that takes keys, in lookup order."""
        places = self._store.places()
        own = [find_vendor(name, self._settings, self._catalogue) for name in self._settings.providers]
        rows = {row.name: row for row in (*VENDORS.values(), *own)}
        mine = [row for row in rows.values() if row.key_variable and accounts.key_holder(row).name == row.name]
        return [self._account(row, places) for row in (*mine, *engine_vendors())]

    def at(self, base_url: str) -> "Accounts":
        """Return the accounts for servers at an address."""
        settings = with_overrides(self._settings, {"base_url": base_url})
        return Accounts(self._home, settings, self._env, self._blobs, self._catalogue)

    async def list_models(self, provider: str) -> list[str]:
        """Return the models of a provider's server with the stored key, the newest of each family first.

        Those that are not made for chat are left out. Empty if the server has no list, or does not answer.
        """
        keys = Keys(self._home, self._env, base_url=self._settings.base_url)
        at = shorten_timeouts(await resolve_endpoint(self._holder(provider), "", self._settings, self._env, keys))
        directory = ModelDirectory(at)
        try:
            names = await directory.names()
        except ModelError:
            return []
        finally:
            await directory.close()
        usual = [name for name in names if name == at.vendor.default_model]
        return list(dict.fromkeys([*usual, *newest_first(name for name in names if not NO_CHAT.search(name))]))

    def of(self, provider: str) -> Account:
        """Return one provider's account. Raises UsageError if it is unknown or takes no key."""
        return self._account(self._holder(provider), self._store.places())

    def checked(self, provider: str, text: str) -> Secret:
        """Parse a pasted key. Raises UsageError that says what is wrong without repeating the text."""
        at = self._endpoint(provider)
        key = text.removeprefix("\x1b[200~").removesuffix("\x1b[201~").strip()
        if problem := accounts.shape_problem(key, at.vendor, elsewhere=not at.at_home):
            raise UsageError(*problem)
        return Secret(key)

    async def tried(self, provider: str, key: Secret) -> ModelConnection:
        """Test the connection with a key that is not stored yet. Raises UsageError if the base URL is invalid."""
        vendor = self._holder(provider)
        if vendor.family == "search":
            return await try_engine(vendor.name, key, self._endpoint(provider).url, self._find_network)
        keys = Keys(self._home, self._env, FoundKey(key, "the new key"), self._settings.base_url)
        return await self._try_server(vendor, keys)

    async def try_without_key(self, provider: str) -> ModelConnection:
        """Test the connection to a server that may need no key. Raises UsageError if the base URL is invalid."""
        keys = Keys(self._home, self._env, base_url=self._settings.base_url)
        return await self._try_server(self._holder(provider), keys)

    async def _try_server(self, vendor: Vendor, keys: Keys) -> ModelConnection:
        at = shorten_timeouts(await resolve_endpoint(vendor, "", self._settings, self._env, keys))
        if not at.at_home:
            at = replace(at, model="")  # another server may not have the vendor's usual model
        return await try_connection(at, build_client(at, self._blobs))

    def keep(self, provider: str, key: Secret) -> StoredKey:
        """Store a key for the server named by settings and flags."""
        at = self._endpoint(provider)
        name = accounts.secret_name(at.vendor, at.url)
        place = self._store.put(name, key).value
        found = environment_key(at.vendor, self._env)
        server, variable = name.partition("@")[2], found.source if found else ""
        return StoredKey(place, str(self._home.credentials), server, variable, _tail_of(key))

    def forget(self, provider: str) -> list[str]:
        """Delete a provider's stored keys for all its servers; return the servers, empty for the provider's own."""
        name = self._holder(provider).name
        mine = [one for one in self._store.places() if one.partition("@")[0] == name]
        return [one.partition("@")[2] for one in mine if self._store.remove(one)]

    @asynccontextmanager
    async def signing_in(self, provider: str) -> AsyncIterator[SignIn]:
        """Start a sign-in through the browser. Raises UsageError if the provider has none."""
        at = self._endpoint(provider)
        if not accounts.account_of(at.vendor).signs_in:
            raise UsageError(
                f"{at.vendor.title} has no browser sign-in.", f"Store an API key instead: halo login {provider}"
            )
        oidc = at.vendor.sign_in
        network = self._find_network(oidc.issuer) if oidc else choose_network(at, self._settings, self._env)
        async with SignIn.start(shorten_timeouts(replace(at, network=network))) as sign_in:
            yield sign_in

    def _find_network(self, url: str) -> Network:
        return find_network(url, self._settings, self._env)

    def _holder(self, provider: str) -> Vendor:
        if engine := next((row for row in engine_vendors() if row.name == provider), None):
            return engine
        vendor = find_vendor(provider, self._settings, self._catalogue)
        if not vendor.key_variable:
            is_editor = vendor.family == "vscode"
            hint = "Choose its models there." if is_editor else f"Use it right away: halo -m {vendor.name}/MODEL"
            raise UsageError(f"{vendor.title} needs no key.", hint)
        row = accounts.key_holder(vendor)
        return vendor if row.name == vendor.name else row  # the settings may have moved it to another server

    def _endpoint(self, provider: str) -> Endpoint:
        """Return the endpoint that a key is for; `base_url` applies to models, not to search engines."""
        vendor = self._holder(provider)
        searches = vendor.family == "search"
        given = engine_url(self._settings, vendor.name) if searches else self._settings.base_url
        return Endpoint(vendor, "", base_url=base_url_of(vendor, self._env, given))

    def _account(self, vendor: Vendor, places: Mapping[str, Place]) -> Account:
        known, found, stored = accounts.account_of(vendor), environment_key(vendor, self._env), places.get(vendor.name)
        name = accounts.secret_name(vendor, base_url_of(vendor, self._env, self._settings.base_url))
        there = places.get(name) if name != vendor.name else None
        servers = (name.partition("@") for name in places if "@" in name)
        return Account(
            vendor.name,
            vendor.title,
            known.keys_page,
            known.signs_in,
            variable=found.source if found else "",
            tail=self._tail(vendor, found, stored),
            stored=stored.value if stored else "",
            elsewhere=tuple(server for owner, _, server in servers if owner == vendor.name),
            searches=vendor.family == "search",
            needs_address=vendor.family not in ("library", "search") and not VENDORS.get(vendor.name, vendor).base_url,
            server=name.partition("@")[2],
            stored_for_server=there.value if there else "",
        )

    def _tail(self, vendor: Vendor, found: FoundKey | None, stored: Place | None) -> str:
        """Return the end of the key in use. Does not open the keyring."""
        if found:
            return _tail_of(found.key)
        secret = self._store.get(vendor.name) if stored is Place.FILE else None
        return _tail_of(secret) if secret else ""


def _tail_of(key: Secret) -> str:
    return "" if oidc.read_sign_in(key.reveal()) else key.tail
