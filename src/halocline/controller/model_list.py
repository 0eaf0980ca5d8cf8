"""Which models could be used: those known by name, those the settings price, and what local servers offer now."""

import asyncio
from collections.abc import Mapping

from halocline.controller.key_choice import Keys
from halocline.controller.model_choice import local_models
from halocline.protocol.values import Value
from halocline.providers.catalog import MODELS, VENDORS, ModelInfo
from halocline.store.settings import Settings


class OfferedModel(Value, frozen=True, omit_defaults=False):
    """A model by its whole name. Sizes are tokens, prices US dollars per million tokens; None is unknown.

    `usable` says that there is a key, or that its local server answers; `key_source` says where the key is from.
    """

    name: str
    usable: bool
    window: int | None = None
    max_output: int | None = None
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    key_source: str = ""


async def offered_models(settings: Settings, keys: Keys) -> list[OfferedModel]:
    """All of them, vendor by vendor; local ones, which answer within a moment or not at all, come last."""
    local = [vendor for vendor in VENDORS.values() if vendor.local and vendor.base_url]
    answers = await asyncio.gather(*(local_models(vendor) for vendor in local))
    sources = {vendor.name: keys.source(vendor) for vendor in VENDORS.values()}
    known = [_known(name, info, sources) for name, info in MODELS.items()]
    priced = [_priced(name, settings, sources) for name in settings.prices if name not in MODELS]
    served = [
        OfferedModel(f"{vendor.name}/{model}", usable=True, input=0.0, output=0.0)
        for vendor, models in zip(local, answers, strict=True)
        for model in models
    ]
    return [*known, *priced, *served]


def _source(name: str, sources: Mapping[str, str]) -> str:
    return sources.get(name.partition("/")[0], "")


def _known(name: str, info: ModelInfo, sources: Mapping[str, str]) -> OfferedModel:
    prices, source = info.prices, _source(name, sources)
    if prices is None:
        return OfferedModel(name, bool(source), info.window, info.max_output, key_source=source)
    costs = (prices.input, prices.output, prices.cache_read, prices.cache_write)
    return OfferedModel(name, bool(source), info.window, info.max_output, *costs, source)


def _priced(name: str, settings: Settings, sources: Mapping[str, str]) -> OfferedModel:
    price, source = settings.prices[name], _source(name, sources)
    costs = (price.input, price.output, price.cache_read, price.cache_write)
    return OfferedModel(name, bool(source), price.window, None, *costs, source)
