"""The models you can use: of the catalogue, of plug-ins, those priced in the settings, and those that servers have now.

Asked are local servers, and those at an address of the settings whose models the catalogue does not know.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from msgspec.structs import astuple, replace

from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.models import ModelInfo
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.endpoint import Endpoint
from halocline.providers.server_probe import ask_server, fill_info
from halocline.runtime.models.keys import Keys
from halocline.runtime.models.local_servers import list_servers, served_models
from halocline.runtime.models.model_names import newest_first
from halocline.runtime.models.resolve import with_sign_in
from halocline.runtime.models.vendors import find_vendor, list_vendors, with_known_facts
from halocline.store.settings.settings import Settings

KEYLESS = ("vscode", "plugin")
"""Families of providers without keys of ours."""
FEW = 40
"""Models of a server that are asked about one by one."""


class OfferedModel(Value, frozen=True, omit_defaults=False):
    """A model by its full name. Sizes are tokens, prices US dollars per million tokens; None is unknown.

    `usable`: there is a key, or its local server answers; `key_source` is where the key comes from. Above `long_from`
    input tokens it costs more. `leaving`: its vendor has announced its retirement. `plugin` brings its provider.
    `unlisted`: it is that of the settings, and no list has it.
    """

    name: str
    usable: bool
    title: str = ""
    window: int | None = None
    max_output: int | None = None
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    long_from: int | None = None
    tools: bool | None = None
    images: bool | None = None
    thinking: bool | None = None
    leaving: bool = False
    key_source: str = ""
    plugin: str = ""
    unlisted: bool = False


async def offered_models(
    settings: Settings, env: Mapping[str, str], keys: Keys, catalogue: Catalogue
) -> list[OfferedModel]:
    """Return all models by vendor, with local ones last."""
    brought = {name: find_vendor(name, settings, catalogue) for name in catalogue.brought}
    found = list_vendors(settings, catalogue) | brought
    served = list_servers(settings, keys, catalogue)
    listed = await asyncio.gather(*(_served_endpoints(vendor, settings, env, keys, catalogue) for vendor in served))
    hosted = [
        _offer_model(at, catalogue, usable=bool(source) or vendor.family in KEYLESS, key_source=source)
        for vendor in found.values()
        if not (vendor.local or _is_other_name(vendor, found.get(vendor.catalogue)))
        for source in (keys.source(vendor),)
        for at in _listed_endpoints(vendor, settings, catalogue)
    ]
    usable = {model.name for model in hosted if model.usable}
    served_now = (at for models in listed for at in models if at.name not in usable)
    asked = {at.name: _offer_model(at, catalogue, usable=True) for at in served_now}
    # A server that needs no key lists what only the prices of the settings name otherwise.
    found_all = [*(model for model in hosted if model.name not in asked), *asked.values()]
    return [*found_all, *_chosen_model(found_all, settings, catalogue)]


def _is_other_name(vendor: Vendor, listed: Vendor | None) -> bool:
    """Return whether the vendor is one that is listed, under a second name."""
    return listed is not None and (listed.family, listed.base_url) == (vendor.family, vendor.base_url)


def _chosen_model(offered: Iterable[OfferedModel], settings: Settings, catalogue: Catalogue) -> Iterator[OfferedModel]:
    """Yield the model of the settings if no list has it: a task would use it all the same."""
    provider, _, model = settings.model.partition("/")
    if model and settings.model not in {one.name for one in offered}:
        with suppress(UsageError):
            vendor = find_vendor(provider, settings, catalogue)
            at = with_known_facts(Endpoint(vendor, model), settings, catalogue)
            yield replace(_offer_model(at, catalogue, usable=True), unlisted=True)


def _listed_endpoints(vendor: Vendor, settings: Settings, catalogue: Catalogue) -> Iterator[Endpoint]:
    """Yield the known models of a vendor."""
    priced = (name.partition("/") for name in settings.prices)
    own = [model for provider, _, model in priced if provider == vendor.name]
    if vendor.family == "plugin":
        known: Iterable[str] = catalogue.brought[vendor.name].models
    else:
        known = catalogue.names(vendor.catalogue or vendor.name)
    for model in newest_first({*known, *own}):
        yield with_known_facts(Endpoint(vendor, model), settings, catalogue)


async def _served_endpoints(
    vendor: Vendor, settings: Settings, env: Mapping[str, str], keys: Keys, catalogue: Catalogue
) -> list[Endpoint]:
    """Return the models of a server; those of a few local ones with the facts it reports."""
    found = await keys.find_for_list(vendor)
    at = Endpoint(vendor, "", key=found.key.reveal() if found else "")
    names = await served_models(with_sign_in(at, settings, env, keys))
    ats = [with_known_facts(Endpoint(vendor, model), settings, catalogue) for model in names]
    if not vendor.local or len(ats) > FEW:
        return ats
    reported = await asyncio.gather(*(ask_server(at) for at in ats))
    return [replace(at, known=fill_info(at.info, facts)) for at, facts in zip(ats, reported, strict=True)]


def _offer_model(at: Endpoint, catalogue: Catalogue, *, usable: bool, key_source: str = "") -> OfferedModel:
    info: ModelInfo = at.info
    plugin = catalogue.brought[at.vendor.name].plugin if at.family == "plugin" else ""
    costs = (None,) * 4 if info.prices is None else astuple(info.prices)
    return OfferedModel(
        name=at.name,
        usable=usable,
        title=info.title or (plugin and f"of the plug-in {plugin}"),
        window=info.window,
        max_output=info.max_output,
        input=costs[0],
        output=costs[1],
        cache_read=costs[2],
        cache_write=costs[3],
        long_from=info.tiers[0].above if info.tiers else None,
        tools=info.tools,
        images=info.images,
        thinking=info.thinking,
        leaving=info.leaving,
        key_source=key_source,
        plugin=plugin,
    )
