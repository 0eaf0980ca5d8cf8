"""The servers that alone know their models: those of this machine, and those set up with an address.

`find_usual_model` is the one answer to the question whether there is a model: all who ask it ask here.
"""

import asyncio

from msgspec.structs import replace

from halocline.net.http import fetch_json
from halocline.protocol.errors import ModelError, UsageError
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.runtime.models.keys import Keys
from halocline.runtime.models.vendors import find_vendor, is_allowed
from halocline.store.settings.settings import Settings

PROBE_SECONDS = 0.4
"""Timeout in seconds for a local server to list its models."""
OWN_PROBE_SECONDS = 2.0
"""The same for a server that the person set up; it may be on another machine."""
ANY_SERVER = "openai-compatible"
NAMED = 5
"""The most models that a sentence names."""


async def find_usual_model(settings: Settings, keys: Keys, catalogue: Catalogue) -> str:
    """Return the model of a task that names none; empty if there is none.

    It is that of the settings, the default of the first provider with a key, or the first of the first server that
    answers: keys in the environment come before stored ones, and servers that were set up before those found here.
    """
    if name := settings.model or _default_with_key(keys, settings):
        return name
    servers = list_servers(settings, keys, catalogue)
    found = await asyncio.gather(*(list_served(vendor, keys) for vendor in servers))
    names = (f"{vendor.name}/{name}" for vendor, names in zip(servers, found, strict=True) for name in names)
    return next((name for name in names if is_allowed(name, settings)), "")


def list_servers(settings: Settings, keys: Keys, catalogue: Catalogue) -> list[Vendor]:
    """Return the providers whose models only their servers know, each with its address; those set up come first."""
    own = {name: find_vendor(name, settings, catalogue) for name in settings.providers}
    rows = own | {name: row for name, row in VENDORS.items() if name not in own}
    if settings.base_url:
        name = settings.model.partition("/")[0] or ANY_SERVER
        first = replace(rows.pop(name, VENDORS[ANY_SERVER]), base_url=settings.base_url)
        rows = {name: first} | rows
    placed = (replace(row, base_url=keys.find_address(row)) for row in rows.values())
    at = settings.base_url  # whatever models its provider has elsewhere, this server knows its own
    return [row for row in placed if row.base_url and (row.local or row.base_url == at or _is_moved(row, catalogue))]


async def find_served(name: str, settings: Settings, keys: Keys, catalogue: Catalogue, *, found_here: bool) -> str:
    """Return a model that a server lists as `provider/model`; empty if none lists it.

    Asked are the servers that were set up, or those `found_here`.
    """
    servers = [one for one in list_servers(settings, keys, catalogue) if _is_set_up(one, settings) is not found_here]
    lists = await asyncio.gather(*(list_served(vendor, keys) for vendor in servers))
    for vendor, names in zip(servers, lists, strict=True):
        if fitting := [one for one in names if one in (name, f"{name}:latest")]:
            return f"{vendor.name}/{fitting[0]}"
    return ""


async def give_to_only_server(name: str, settings: Settings, keys: Keys, catalogue: Catalogue) -> str:
    """Return an unknown name as a model of the only server that was set up; empty if there is not just one.

    Raises:
        UsageError: that server lists its models, and it is none of them.
    """
    servers = [one for one in list_servers(settings, keys, catalogue) if _is_set_up(one, settings)]
    if settings.base_url:
        servers = servers[:1]
    if len(servers) != 1:
        return ""
    (only,) = servers
    if names := await list_served(only, keys):
        more = ", …" if len(names) > NAMED else ""
        raise UsageError(f"{only.title} has no model {name!r}.", f"It has {', '.join(names[:NAMED])}{more}.")
    return f"{only.name}/{name}"


async def list_served(vendor: Vendor, keys: Keys) -> list[str]:
    """Return the models of a provider's server; empty as for `served_models`. Raises SecretsError."""
    found = None if vendor.is_free else await keys.find_for_list(vendor)
    return await served_models(Endpoint(vendor, "", key=found.key.reveal() if found else ""))


async def served_models(at: Endpoint) -> list[str]:
    """Return the models of a server; empty if it does not answer, or its address is invalid."""
    seconds = PROBE_SECONDS if at.vendor == VENDORS.get(at.vendor.name) else OWN_PROBE_SECONDS
    try:
        headers = await at.request_headers()
        answer = await fetch_json(f"{at.url}/models", seconds, headers=headers)
    except (ModelError, UsageError):
        return []
    rows = answer.get("data") if isinstance(answer, dict) else None
    return [str(row["id"]) for row in rows or () if isinstance(row, dict) and "id" in row]


def _is_set_up(vendor: Vendor, settings: Settings) -> bool:
    return vendor.name in settings.providers or bool(settings.base_url and vendor.base_url == settings.base_url)


def _is_moved(vendor: Vendor, catalogue: Catalogue) -> bool:
    """True if a provider has another address than its built-in one, and no list of models."""
    built_in = VENDORS.get(vendor.name)
    moved = built_in is None or built_in.base_url != vendor.base_url
    return moved and not catalogue.names(vendor.catalogue or vendor.name)


def _default_with_key(keys: Keys, settings: Settings) -> str:
    """Return the default model of the first provider with a key, of those that may be used."""
    usual = (vendor for vendor in VENDORS.values() if vendor.default_model)
    vendors = [vendor for vendor in usual if is_allowed(f"{vendor.name}/{vendor.default_model}", settings)]
    first = next(filter(keys.in_environment, vendors), None) or next(filter(keys.source, vendors), None)
    return f"{first.name}/{first.default_model}" if first else ""
