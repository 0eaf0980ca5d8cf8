"""Which model a task uses, and what to tell a person who has none yet."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from halocline.context.request import Thinking
from halocline.ports.blobs import Blobs
from halocline.ports.model import Model
from halocline.protocol.errors import ModelError, UsageError
from halocline.protocol.events import Mode
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.vendors import VENDORS, Vendor
from halocline.providers.endpoint import Endpoint, build_endpoint
from halocline.providers.wrappers.model_info_probe import Informed, wants_to_know
from halocline.providers.wrappers.retry import Retrying
from halocline.runtime.assembly.network import choose_network
from halocline.runtime.models.keys import Keys
from halocline.runtime.models.vendors import find_vendor, with_known_facts
from halocline.store.settings.settings import Settings

PROBE_SECONDS = 0.4
"""How long a local server may take to say which models it has."""

DIRECT_QUIET = 300.0
"""Seconds of a reply without anything new in it; a server on this machine may take as long as its silences."""
NO_MODEL = "There is no model to talk to."
HOW_TO = """Pick one of these:
        halo login  (asks for a key, tries it and keeps it)
        export ANTHROPIC_API_KEY=…  (or OPENAI_API_KEY, OPENROUTER_API_KEY, …)
        start Ollama, LM Studio or llama.cpp on this machine, and halo finds it
        name any OpenAI-compatible server: halo -m openai/MODEL --base-url URL
        or look at halo demo, which needs none of these"""


async def open_model(
    named: str, settings: Settings, env: Mapping[str, str], keys: Keys, blobs: Blobs, catalogue: Catalogue
) -> Model:
    """The model that was named, or the first that this machine has a key or a server for.

    Raises:
        UsageError: the name is wrong, the key is missing, or there is nothing to choose from.
        SecretsError: a stored key is needed and cannot be read.
    """
    vendor, model = await choose_model(named, settings, keys, catalogue)
    if vendor.family == "scripted":
        from halocline.providers.scripted.model import Scripted

        return Scripted.load(model)
    at = with_known_facts(await resolve_endpoint(vendor, model, settings, env, keys), settings, catalogue)
    if settings.max_cost is not None:
        at = await with_a_price(at, settings.max_cost)
    speaker = with_bounds(build_client(at, blobs), at, settings)
    return Informed(speaker, at) if wants_to_know(at) else speaker


async def choose_model(named: str, settings: Settings, keys: Keys, catalogue: Catalogue) -> tuple[Vendor, str]:
    """The vendor and its own name for the model; empty stands for its usual one. Raises as `open_model` does."""
    name = named or settings.model or _with_key(keys) or await _find_local_model()
    if not name:
        raise UsageError(NO_MODEL, HOW_TO)
    provider, _, model = name.partition("/")
    vendor = find_vendor(provider, settings, catalogue)
    if not model and not vendor.default_model:
        raise UsageError(f"{name!r} names no model.", f"Write it as provider/model, such as {provider}/MODEL.")
    return vendor, model


async def resolve_endpoint(
    vendor: Vendor, model: str, settings: Settings, env: Mapping[str, str], keys: Keys
) -> Endpoint:
    """Where a model is asked, with which key, and the way there. Raises as `open_model` does."""
    found = await keys.find(vendor)
    key, source = (found.key.reveal(), found.source) if found else ("", "")
    at = build_endpoint(vendor, model, env, key=key, key_source=source, base_url=settings.base_url)
    return replace(at, network=choose_network(at, settings, env))


def with_retries(model: Model, settings: Settings, is_watched: Callable[[], bool]) -> Model:
    """The model, asked again after what may pass. Where there are others to ask, no outage is waited out.

    Nor is it while a person watches, who can decide to wait.
    """
    patience = 0.0 if settings.fallback_models else 60 * settings.outage_patience
    return Retrying(model, patience=patience, is_watched=is_watched)


def with_text_tools(model: Model, settings: Settings) -> Model:
    """The model, behind the text protocol when the settings say that it has no tool calls of its own."""
    if not any(fnmatchcase(model.name, pattern) for pattern in settings.text_tools):
        return model
    from halocline.providers.text_tools.model import TextProtocol

    return TextProtocol(model)


async def with_a_price(at: Endpoint, limit: float) -> Endpoint:
    """The endpoint with prices: a limit in dollars needs them, so that the server is asked when nobody else knows.

    Raises:
        UsageError: the limit cannot be kept because the server does not know either.
    """
    if at.info.prices is None and wants_to_know(at):
        from halocline.providers.catalog.server_probe import ask_server, fill_info

        at = replace(at, known=fill_info(at.info, await ask_server(at)))
    if at.info.prices is None:
        raise UsageError(
            f"The limit of ${limit:.2f} cannot be kept: the price of {at.name} is not known.",
            f'Give it in settings.toml, in dollars per million tokens, as input and output of [prices."{at.name}"].',
        )
    return at


def with_bounds(model: Model, at: Endpoint, settings: Settings) -> Model:
    """The model, with an end to what says nothing new or does not end."""
    from halocline.providers.wrappers.bounded import Bounded

    way = at.network
    quiet = settings.quiet_timeout or max(DIRECT_QUIET, way.stall_timeout)
    first = max(quiet, way.first_byte_timeout) if settings.quiet_timeout is None else quiet
    return Bounded(model, first, quiet, int(settings.max_reply * 1e6))


def build_client(at: Endpoint, blobs: Blobs) -> Model:
    match at.family:
        case "anthropic":
            from halocline.providers.anthropic.request import Anthropic

            return Anthropic(at, blobs)
        case "gemini":
            from halocline.providers.gemini.request import Gemini

            return Gemini(at, blobs)
        case "openai_responses":
            from halocline.providers.openai_responses.request import OpenAIResponses

            return OpenAIResponses(at, blobs)
        case "library":
            from halocline.providers.sdk.model import Library

            return Library(at, blobs)
        case _:
            from halocline.providers.openai_chat.request import OpenAIChat

            return OpenAIChat(at, blobs)


def _with_key(keys: Keys) -> str:
    """The usual model of the first vendor that has a key; one in the environment goes before a stored one."""
    vendors = [vendor for vendor in VENDORS.values() if vendor.default_model]
    first = next(filter(keys.in_environment, vendors), None) or next(filter(keys.source, vendors), None)
    return f"{first.name}/{first.default_model}" if first else ""


async def _find_local_model() -> str:
    """The first model of the first local server that answers."""
    vendors = [vendor for vendor in VENDORS.values() if vendor.local and vendor.base_url]
    found = await asyncio.gather(*(local_models(vendor) for vendor in vendors))
    return next((f"{vendor.name}/{models[0]}" for vendor, models in zip(vendors, found, strict=True) if models), "")


async def local_models(vendor: Vendor) -> list[str]:
    """What a local server offers; empty when none answers."""
    from halocline.net.http import fetch_json

    try:
        answer = await fetch_json(f"{vendor.base_url}/models", timeout=PROBE_SECONDS)
    except ModelError:
        return []
    rows = answer.get("data") if isinstance(answer, dict) else None
    return [str(row["id"]) for row in rows or () if isinstance(row, dict) and "id" in row]


def thinking_by_mode(settings: Settings) -> Mapping[Mode, Thinking]:
    """How hard a task's model thinks in each mode."""
    plan = settings.plan
    act = Thinking(settings.effort, settings.thinking_budget)
    own = plan.effort is not None or plan.thinking_budget is not None
    return {Mode.ACT: act, Mode.PLAN: Thinking(plan.effort, plan.thinking_budget) if own else act}
