"""The configured search engine, with its key: from the environment, or stored by `halo login` for that address."""

import time
from collections.abc import Callable
from functools import cached_property, partial
from urllib.parse import urlsplit

from msgspec.structs import replace

from halocline.hosts.web.engines import ENGINES, Engine
from halocline.hosts.web.fetch import LocalWeb
from halocline.hosts.web.search import EngineSearch, KeyRefused
from halocline.net.address import address_of
from halocline.net.network import Network
from halocline.ports.web_search import WebQuery
from halocline.protocol.errors import ToolFailure, UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.providers.catalog.vendor import Vendor
from halocline.runtime.models.connection_test import ModelConnection
from halocline.runtime.models.keys import Keys
from halocline.store.settings.settings import Settings


class ConfiguredSearch:
    """The engine that the settings choose. `remark` says why it cannot be used; empty if it can."""

    def __init__(self, settings: Settings, keys: Keys, network: Callable[[str], Network]) -> None:
        """Raises UsageError if the engine has no valid address."""
        self._chosen, url = ENGINES[settings.web_search.engine], settings.web_search.url
        if not (url or self._chosen.url):
            raise UsageError(
                f"The web_search setting has no url for {self._chosen.title}.", "Set it to the address of your server."
            )
        if url and address_of(url) is None:
            raise UsageError(
                f"The url of the web_search setting is not an address: {url!r}.",
                "Write it as https://search.example.org",
            )
        self._keys = keys
        find_key = partial(_find_key, vendor_of(self._chosen), keys)
        self.engine = EngineSearch(self._chosen, url, LocalWeb(network), find_key)

    @cached_property
    def remark(self) -> str:
        """Read once, so that a task and its surface agree."""
        if not self._chosen.key_variable or self._keys.source(vendor_of(self._chosen)):
            return ""
        return (
            f"web_search is not available: there is no key for {self._chosen.title}. Set {self._chosen.key_variable}, "
            f"or run: halo login {self._chosen.name}"
        )


def vendor_of(engine: Engine) -> Vendor:
    """Return the engine as a vendor, so that its key is found and stored like any other."""
    return Vendor(engine.name, engine.title, "search", base_url=engine.url, key_variable=engine.key_variable)


def engine_vendors() -> tuple[Vendor, ...]:
    """Return the engines that take keys."""
    return tuple(vendor_of(engine) for engine in ENGINES.values() if engine.key_variable)


def engine_url(settings: Settings, name: str) -> str:
    """Return an engine's address from the settings; empty means its usual one."""
    return settings.web_search.url if settings.web_search.engine == name else ""


async def try_engine(name: str, key: Secret, url: str, network: Callable[[str], Network]) -> ModelConnection:
    """Test a key with a search for one word."""
    began = time.monotonic()
    web = LocalWeb(network)
    engine = EngineSearch(ENGINES[name], url, web, partial(_as_secret, key))
    tried = ModelConnection(name, engine.host)
    try:
        await engine.find(WebQuery("test"), await web.lookup(urlsplit(url).hostname or ""))
    except KeyRefused as refused:
        tried = replace(tried, accepted=False, failure=f"{engine.title} did not accept the key.", hint=refused.text)
    except ToolFailure as failure:
        tried = replace(tried, reached=False, failure=failure.text)
    else:
        tried = replace(tried, accepted=True)
    return replace(tried, seconds=round(time.monotonic() - began, 3))


async def _as_secret(key: Secret) -> Secret:
    return key


async def _find_key(vendor: Vendor, keys: Keys) -> Secret | None:
    found = await keys.find(vendor)
    return found.key if found else None
