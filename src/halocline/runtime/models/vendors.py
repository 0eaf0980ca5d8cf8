"""Which provider a name means, and what is known of its models.

A person's settings go before our rows, and those before the catalogue; so a fetched catalogue can add providers, and
never move one that we know to another address. What is known of a model: the settings, then the newer catalogue, then
the older one; where all are silent, its server is asked later (`providers.informed`).
"""

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from msgspec.structs import asdict, replace as changed

from halocline.protocol.errors import UsageError
from halocline.providers.catalog.file import Catalogue, Entry
from halocline.providers.catalog.models import FREE, UNKNOWN, ModelInfo, Prices
from halocline.providers.catalog.vendors import VENDORS, Family, Vendor
from halocline.providers.endpoint import Endpoint
from halocline.store.settings.settings import Price, Provider, Settings

FAMILIES: dict[str, Family] = {
    "@ai-sdk/openai-compatible": "openai_chat",
    "@openrouter/ai-sdk-provider": "openai_chat",
    "@ai-sdk/anthropic": "anthropic",
    "@ai-sdk/openai": "openai_responses",
}
"""What is spoken where the catalogue names this software."""

USUAL = ("anthropic", "openai", "gemini", "openrouter", "deepseek", "mistral", "ollama", "lmstudio")
"""Providers that are named to somebody who named none."""

_OPENS = ("KEY", "TOKEN", "PAT")


def find_vendor(name: str, settings: Settings, catalogue: Catalogue) -> Vendor:
    """Raises UsageError, with what may be meant, for an unknown name."""
    row = VENDORS.get(name) or _find_row(name) or _find_listed(name, catalogue)
    own = settings.providers.get(name)
    if own is not None:
        return _own_vendor(name, row, own)
    if row is None:
        raise UsageError(f"There is no provider {name!r}.", _suggest_name(name, settings, catalogue))
    return row


def list_vendors(settings: Settings, catalogue: Catalogue) -> dict[str, Vendor]:
    """All that can be named, by name: our rows first."""
    ours = {row.catalogue or row.name for row in VENDORS.values()}
    names = [*VENDORS, *settings.providers, *(name for name in catalogue.providers() if name not in ours)]
    found = {}
    for name in dict.fromkeys(names):
        if name in settings.providers or name in VENDORS or _find_listed(name, catalogue):
            found[name] = find_vendor(name, settings, catalogue)
    return found


def with_known_facts(at: Endpoint, settings: Settings, catalogue: Catalogue) -> Endpoint:
    """The endpoint with what is known of its model."""
    own = settings.prices.get(at.name)
    if settings.context_window:
        own = changed(own or Price(), window=settings.context_window)
    if own is not None and None not in asdict(own).values():
        return replace(at, known=_override_info(UNKNOWN, own), own_prices=True)
    info = model_info(at.vendor, at.model, catalogue)
    if own is None:
        return replace(at, known=info)
    return replace(at, known=_override_info(info, own), own_prices=own.input is not None)


def model_info(vendor: Vendor, model: str, catalogue: Catalogue) -> ModelInfo:
    """What the catalogue says. Models on one's own machine are free, and not in it."""
    return FREE if vendor.local else catalogue.model(vendor.catalogue or vendor.name, model) or UNKNOWN


def takes_images(name: str, settings: Settings, catalogue: Catalogue) -> bool:
    """Whether pictures may be sent to a model. Where nobody knows, no: a refused request could never be taken back."""
    if any(fnmatchcase(name, pattern) for pattern in settings.image_models):
        return True
    provider, _, model = name.partition("/")
    return bool(model_info(find_vendor(provider, settings, catalogue), model, catalogue).images)


def window_of(name: str, settings: Settings, catalogue: Catalogue) -> int | None:
    """How many tokens a model takes; None when nobody says."""
    own = settings.prices.get(name)
    if own is not None and own.window:
        return own.window
    provider, _, model = name.partition("/")
    return model_info(find_vendor(provider, settings, catalogue), model, catalogue).window


def describe_model(name: str, settings: Settings, env: Mapping[str, str], catalogue: Catalogue) -> str:
    """What a person should hear of the model that they chose; mostly nothing.

    Servers that they named themselves have whatever models they have.
    """
    provider, _, model = name.partition("/")
    vendor = find_vendor(provider, settings, catalogue)
    listed = (
        catalogue.names(vendor.catalogue or vendor.name) if not (vendor.local or vendor.family == "scripted") else []
    )
    if settings.base_url or env.get(vendor.base_url_variable) or provider in settings.providers or not listed:
        return ""
    info = model_info(vendor, model, catalogue)
    if info.leaving:
        return f"{vendor.title} is going to withdraw {name}."
    if info is not UNKNOWN or name in settings.prices:
        return ""
    meant = _nearest_word(model, listed)
    hint = f" Did you mean {vendor.name}/{meant}?" if meant else ""
    return f"{name} is not in the catalogue: its window and its price are unknown.{hint}"


def _find_row(name: str) -> Vendor | None:
    """The row that has this name in the catalogue."""
    return next((row for row in VENDORS.values() if row.catalogue == name), None)


def _find_listed(name: str, catalogue: Catalogue) -> Vendor | None:
    """A provider that only the catalogue knows, if we speak its family and know its address."""
    entry = catalogue.provider(name)
    family = FAMILIES.get(entry.npm) if entry else None
    if entry is None or family is None or not entry.api:
        return None
    keys = _key_variables(entry)
    return Vendor(
        name=name,
        title=entry.name or name,
        family=family,
        base_url=entry.api,
        key_variable=keys[0] if keys else "",
        other_key_variables=keys[1:],
    )


def _key_variables(entry: Entry) -> tuple[str, ...]:
    """The variables that hold a key; others are parts of the address."""
    return tuple(name for name in entry.env if name not in entry.api and any(word in name for word in _OPENS))


def _own_vendor(name: str, row: Vendor | None, own: Provider) -> Vendor:
    """A person's provider. Another address speaks what such servers speak, unless they say otherwise."""
    said = {field: value for field, value in asdict(own).items() if value is not None}
    if row is None:
        if not own.base_url:
            raise UsageError(
                f"The provider {name!r} has no base_url.", f"Give it one in [providers.{name}] of settings.toml."
            )
        return Vendor(**{"name": name, "title": name, "family": "openai_chat"} | said)
    if own.base_url and row.family_elsewhere:
        said.setdefault("family", row.family_elsewhere)
    return changed(row, **said)


def _override_info(info: ModelInfo, own: Price) -> ModelInfo:
    """What is known, with what a person says in its place."""
    sized = changed(info, window=own.window or info.window, max_output=own.max_output or info.max_output)
    if own.input is None or own.output is None:
        return sized
    return changed(sized, prices=Prices(own.input, own.output, own.cache_read, own.cache_write), tiers=())


def _suggest_name(name: str, settings: Settings, catalogue: Catalogue) -> str:
    names = list(list_vendors(settings, catalogue))
    if near := _nearest_word(name, names):
        return f"Did you mean {near}? All that are known: halo models --all"
    return f"Among the {len(names)} known: {', '.join(USUAL)}. All of them: halo models --all"


def _nearest_word(word: str, words: list[str]) -> str:
    from difflib import get_close_matches

    plain = {each.lower(): each for each in words}
    return next((plain[each] for each in get_close_matches(word.lower(), plain, n=1, cutoff=0.6)), "")
