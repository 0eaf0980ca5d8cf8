"""Which models could be used: those known by name, those the settings price, and what local servers offer now."""

import asyncio
from collections.abc import Mapping

from halocline.controller.model_choice import local_models
from halocline.protocol.values import Value
from halocline.providers.catalog import MODELS, VENDORS, ModelInfo
from halocline.store.settings import Settings


class OfferedModel(Value, frozen=True, omit_defaults=False):
    """A model by its whole name. Sizes are tokens, prices US dollars per million tokens; None is unknown.

    `usable` says that its key is set, or that its local server answers.
    """

    name: str
    usable: bool
    window: int | None = None
    max_output: int | None = None
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


async def offered_models(settings: Settings, env: Mapping[str, str]) -> list[OfferedModel]:
    """All of them, vendor by vendor; local ones, which answer within a moment or not at all, come last."""
    local = [vendor for vendor in VENDORS.values() if vendor.local and vendor.base_url]
    answers = await asyncio.gather(*(local_models(vendor) for vendor in local))
    known = [_known(name, info, env) for name, info in MODELS.items()]
    priced = [_priced(name, settings, env) for name in settings.prices if name not in MODELS]
    served = [
        OfferedModel(f"{vendor.name}/{model}", usable=True, input=0.0, output=0.0)
        for vendor, models in zip(local, answers, strict=True)
        for model in models
    ]
    return [*known, *priced, *served]


def _has_key(name: str, env: Mapping[str, str]) -> bool:
    vendor = VENDORS.get(name.partition("/")[0])
    return vendor is not None and bool(vendor.key_in(env))


def _known(name: str, info: ModelInfo, env: Mapping[str, str]) -> OfferedModel:
    prices = info.prices
    if prices is None:
        return OfferedModel(name, _has_key(name, env), info.window, info.max_output)
    costs = (prices.input, prices.output, prices.cache_read, prices.cache_write)
    return OfferedModel(name, _has_key(name, env), info.window, info.max_output, *costs)


def _priced(name: str, settings: Settings, env: Mapping[str, str]) -> OfferedModel:
    price = settings.prices[name]
    costs = (price.input, price.output, price.cache_read, price.cache_write)
    return OfferedModel(name, _has_key(name, env), price.window, None, *costs)
