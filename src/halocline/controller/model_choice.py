"""Which model a task uses, and what to tell a person who has none yet."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from halocline.controller.network_choice import network
from halocline.ports.blobs import Blobs
from halocline.ports.model import Model
from halocline.protocol.errors import ModelError, UsageError
from halocline.providers import catalog
from halocline.providers.endpoint import Endpoint, endpoint
from halocline.store.settings import Price, Settings

PROBE_SECONDS = 0.4
"""How long a local server may take to say which models it has."""

NO_MODEL = "There is no model to talk to."
HOW_TO = """Pick one of these:
        export ANTHROPIC_API_KEY=…  (or OPENAI_API_KEY, OPENROUTER_API_KEY, …)
        start Ollama, LM Studio or llama.cpp on this machine, and halo finds it
        name any OpenAI-compatible server: halo -m openai/MODEL --base-url URL
        or look at halo demo, which needs none of these"""


async def open_model(named: str, settings: Settings, env: Mapping[str, str], key: str, blobs: Blobs) -> Model:
    """The model that was named, or the first that this machine has a key or a server for.

    Raises:
        UsageError: the name is wrong, the key is missing, or there is nothing to choose from.
    """
    name = named or settings.model or _with_key(env) or await _local()
    if not name:
        raise UsageError(NO_MODEL, HOW_TO)
    provider, _, model = name.partition("/")
    vendor = catalog.vendor(provider)
    if not model and not vendor.default_model:
        raise UsageError(f"{name!r} names no model.", f"Write it as provider/model, such as {provider}/MODEL.")
    if vendor.family == "scripted":
        from halocline.providers.scripted import Scripted

        return Scripted.load(model)
    at = endpoint(vendor, model, env, key=key, base_url=settings.base_url)
    at = replace(at, network=network(at, settings, env))
    return _client(priced(at, settings), blobs)


def with_text_tools(model: Model, settings: Settings) -> Model:
    """The model, behind the text protocol when the settings say that it has no tool calls of its own."""
    if not any(fnmatchcase(model.name, pattern) for pattern in settings.text_tools):
        return model
    from halocline.providers.text_protocol import TextProtocol

    return TextProtocol(model)


def priced(at: Endpoint, settings: Settings) -> Endpoint:
    """The endpoint with the prices that the settings give its model.

    Raises:
        UsageError: a cost limit is set, and it cannot be kept because nobody knows the price.
    """
    if price := settings.prices.get(at.name):
        at = replace(at, known=_over(at.info, price))
    if settings.max_cost is not None and at.info.prices is None:
        raise UsageError(
            f"The limit of ${settings.max_cost:.2f} cannot be kept: the price of {at.name} is not known.",
            f'Give it in settings.toml, in dollars per million tokens, as input and output of [prices."{at.name}"].',
        )
    return at


def _over(info: catalog.ModelInfo, price: Price) -> catalog.ModelInfo:
    """What is known, with a person's price in place of the catalog's. A cache that has no price costs as input does."""
    prices = catalog.Prices(
        price.input,
        price.output,
        price.input if price.cache_read is None else price.cache_read,
        price.input if price.cache_write is None else price.cache_write,
    )
    return catalog.ModelInfo(price.window or info.window, info.max_output, prices)


def _client(at: Endpoint, blobs: Blobs) -> Model:
    match at.family:
        case "anthropic":
            from halocline.providers.anthropic import Anthropic

            return Anthropic(at, blobs)
        case "gemini":
            from halocline.providers.gemini import Gemini

            return Gemini(at, blobs)
        case "openai_responses":
            from halocline.providers.openai_responses import OpenAIResponses

            return OpenAIResponses(at, blobs)
        case "library":
            from halocline.providers.library import Library

            return Library(at, blobs)
        case _:
            from halocline.providers.openai_chat import OpenAIChat

            return OpenAIChat(at, blobs)


def _with_key(env: Mapping[str, str]) -> str:
    for vendor in catalog.VENDORS.values():
        if vendor.default_model and vendor.key_in(env):
            return f"{vendor.name}/{vendor.default_model}"
    return ""


async def _local() -> str:
    """The first model of the first local server that answers."""
    vendors = [vendor for vendor in catalog.VENDORS.values() if vendor.local and vendor.base_url]
    found = await asyncio.gather(*(local_models(vendor) for vendor in vendors))
    return next((f"{vendor.name}/{models[0]}" for vendor, models in zip(vendors, found, strict=True) if models), "")


async def local_models(vendor: catalog.Vendor) -> list[str]:
    """What a local server offers; empty when none answers."""
    from halocline.providers.http import get_json

    try:
        answer = await get_json(f"{vendor.base_url}/models", timeout=PROBE_SECONDS)
    except ModelError:
        return []
    rows = answer.get("data") if isinstance(answer, dict) else None
    return [str(row["id"]) for row in rows or () if isinstance(row, dict) and "id" in row]
