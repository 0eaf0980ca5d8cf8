"""The configured search engine, with its key: from the environment, or stored by `halo login` for that address."""

import time
from collections.abc import Callable
from functools import partial
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


def build_search(settings: Settings, keys: Keys, network: Callable[[str], Network]) -> EngineSearch:
    """Build the configured engine. Raises UsageError if it has no valid address."""
    engine, url = ENGINES[settings.web_search.engine], settings.web_search.url
    if not (url or engine.url):
        raise UsageError(
            f"The web_search setting has no url for {engine.title}.", "Set it to the address of your server."
        )
    if url and address_of(url) is None:
        raise UsageError(
            f"The url of the web_search setting is not an address: {url!r}.", "Write it as https://search.example.org"
        )
    return EngineSearch(engine, url, LocalWeb(network), partial(_find_key, vendor_of(engine), keys))


def without_key(settings: Settings, keys: Keys) -> str:
    """Return a notice if the engine needs a key and there is none; empty otherwise."""
    engine = ENGINES[settings.web_search.engine]
    if not engine.key_variable or keys.source(vendor_of(engine)):
        return ""
    return (
        f"web_search is not available: there is no key for {engine.title}. Set {engine.key_variable}, or run: "
        f"halo login {engine.name}"
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
