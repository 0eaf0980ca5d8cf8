"""Resolve provider names, and collect the facts about their models.

A name is the person's provider, then a built-in one, then a plug-in's, then the catalogue's: a fetched catalogue can
add providers, but never move one to another address, and a plug-in may take a name that the catalogue alone has. Facts
about a model come from the settings, then the newer catalogue, then the older one; if all lack them, its server is
asked later (`providers.wrappers.model_info_probe`). Of a plug-in's models the catalogue knows nothing.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from msgspec.structs import asdict, replace

from halocline.protocol.errors import UsageError
from halocline.providers.catalog.file import EDITOR, Catalogue, Entry
from halocline.providers.catalog.models import FREE, UNKNOWN, ModelInfo, Prices
from halocline.providers.catalog.vendor import Family, Oidc, Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.store.settings.provider_settings import Price, Provider
from halocline.store.settings.settings import Settings

FAMILIES: dict[str, Family] = {
    "@ai-sdk/openai-compatible": "openai_chat",
    "@openrouter/ai-sdk-provider": "openai_chat",
    "@ai-sdk/anthropic": "anthropic",
    "@ai-sdk/openai": "openai_responses",
}
"""API family for each client library that the catalogue names."""

USUAL = ("anthropic", "openai", "gemini", "openrouter", "deepseek", "mistral", "ollama", "lmstudio")
"""Providers to suggest when a name is unknown."""

CLOSE = 0.7
"""How alike two names must be for one to be meant by the other, from 0 to 1: `foo` is not `frogbot`."""
_OPENS = ("KEY", "TOKEN", "PAT")


def find_vendor(name: str, settings: Settings, catalogue: Catalogue) -> Vendor:
    """Return the provider of a name. Raises UsageError with suggestions if it is unknown."""
    own = settings.providers.get(name)
    row = VENDORS.get(name) or _find_row(name)
    if row is None:  # what a person configured stays theirs
        brought = (own is None and _find_brought(name, catalogue)) or None
        listed = _find_listed(name, catalogue)
        is_limited = (
            settings.allowed_providers or settings.allowed_models
        )  # by name: a plug-in may not take a known one
        row = listed or brought if is_limited else brought or listed
    if own is not None:
        return _own_vendor(name, row, own)
    if row is None:
        raise UsageError(f"There is no provider {name!r}.", suggest_provider(name, settings, catalogue))
    return row


def is_allowed(name: str, settings: Settings) -> bool:
    """True if the settings let a model be used, by its full name."""
    provider, _, _ = name.partition("/")
    limits = ((provider, settings.allowed_providers), (name, settings.allowed_models))
    return all(not patterns or any(fnmatchcase(one, pattern) for pattern in patterns) for one, patterns in limits)


def require_allowed(name: str, settings: Settings) -> None:
    """Raise UsageError if the settings do not let a model be used."""
    if is_allowed(name, settings):
        return
    allowed = ", ".join(settings.allowed_models or settings.allowed_providers)
    raise UsageError(
        f"The model {name} may not be used here; allowed are: {allowed}.",
        "Who says so: halo config list allowed --explain. Choose one of those with -m.",
    )


def list_vendors(settings: Settings, catalogue: Catalogue) -> dict[str, Vendor]:
    """Return all providers by name, built-in ones first."""
    ours = {row.catalogue or row.name for row in VENDORS.values()}
    ours_here = [name for name in VENDORS if name != EDITOR or catalogue.editor]
    names = [*ours_here, *settings.providers, *(name for name in catalogue.providers() if name not in ours)]
    found = {}
    for name in dict.fromkeys(names):
        if name in settings.providers or name in VENDORS or _find_listed(name, catalogue):
            found[name] = find_vendor(name, settings, catalogue)
    return found


def with_known_facts(at: Endpoint, settings: Settings, catalogue: Catalogue) -> Endpoint:
    """Return the endpoint with the known facts about its model."""
    own = settings.prices.get(at.name)
    if settings.context_window:
        own = replace(own or Price(), window=settings.context_window)
    if own is not None and None not in asdict(own).values():
        return replace(at, known=_override_info(UNKNOWN, own), own_prices=True)
    info = model_info(at.vendor, at.model, catalogue)
    if own is None:
        return replace(at, known=info)
    return replace(at, known=_override_info(info, own), own_prices=own.input is not None)


def describe_given_model(name: str, settings: Settings, catalogue: Catalogue) -> Endpoint:
    """Return what is known about a model that a program brings: what the settings say."""
    provider, _, model = name.partition("/")
    return with_known_facts(Endpoint(Vendor(provider, provider, "plugin"), model), settings, catalogue)


def model_info(vendor: Vendor, model: str, catalogue: Catalogue) -> ModelInfo:
    """Return the catalogue's facts about a model. Local models are free, and not in it, as those of plug-ins are."""
    if vendor.family == "plugin":
        return UNKNOWN
    return FREE if vendor.is_free else catalogue.model(vendor.catalogue or vendor.name, model) or UNKNOWN


def find_model_facts(named: str, settings: Settings, catalogue: Catalogue) -> ModelInfo:
    """Return what is known about a model without asking its server."""
    provider, _, model = named.partition("/")
    try:
        vendor = find_vendor(provider, settings, catalogue)
    except UsageError:
        return UNKNOWN
    return with_known_facts(Endpoint(vendor, model), settings, catalogue).info


def takes_images(name: str, settings: Settings, catalogue: Catalogue) -> bool:
    """True if images may be sent to a model. If unknown, False: an image the server rejects would stay in the task."""
    if any(fnmatchcase(name, pattern) for pattern in settings.image_models):
        return True
    provider, _, model = name.partition("/")
    if not provider:  # an imported task has none until it is adopted
        return False
    try:
        vendor = find_vendor(provider, settings, catalogue)
    except UsageError:  # the task's model was one of a program
        return False
    return bool(model_info(vendor, model, catalogue).images)


def window_of(name: str, settings: Settings, catalogue: Catalogue) -> int | None:
    """Return a model's context window in tokens; None if unknown."""
    own = settings.prices.get(name)
    if own is not None and own.window:
        return own.window
    provider, _, model = name.partition("/")
    if not provider:
        return None
    return model_info(find_vendor(provider, settings, catalogue), model, catalogue).window


def describe_model(name: str, settings: Settings, env: Mapping[str, str], catalogue: Catalogue) -> str:
    """Return a notice about the chosen model; usually empty, and always for servers the person configured."""
    provider, _, model = name.partition("/")
    vendor = find_vendor(provider, settings, catalogue)
    listed = (
        catalogue.names(vendor.catalogue or vendor.name) if not (vendor.local or vendor.family == "scripted") else []
    )
    if settings.base_url or env.get(vendor.base_url_variable) or provider in settings.providers or not listed:
        return ""
    info = model_info(vendor, model, catalogue)
    if info.leaving:
        return f"{vendor.title} is going to retire {name}."
    if info is not UNKNOWN or name in settings.prices:
        return ""
    meant = _nearest_word(model, listed)
    hint = f" Did you mean {vendor.name}/{meant}?" if meant else ""
    return f"{name} is not in the model catalog: its context window and price are unknown.{hint}"


def _find_row(name: str) -> Vendor | None:
    """Return the built-in provider that has this name in the catalogue."""
    return next((row for row in VENDORS.values() if name and row.catalogue == name), None)


def _find_brought(name: str, catalogue: Catalogue) -> Vendor | None:
    """Return a provider that a plug-in brings: the catalogue never moves it to an address."""
    return Vendor(name, name, "plugin") if name in catalogue.brought else None


def _find_listed(name: str, catalogue: Catalogue) -> Vendor | None:
    """Return a provider that only the catalogue has, if its API family is supported and its address known."""
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
    """Return the variables that hold a key; others are parts of the address."""
    return tuple(name for name in entry.env if name not in entry.api and any(word in name for word in _OPENS))


def _own_vendor(name: str, row: Vendor | None, own: Provider) -> Vendor:
    """Build a person's provider. For another address, the API family is the usual one there, unless it is set."""
    fields = {field: value for field, value in asdict(own).items() if value is not None}
    if own.sign_in:
        given = own.sign_in
        fields["sign_in"] = Oidc(given.issuer, given.client_id, given.scopes, given.callback)
        fields["key_variable"] = own.key_variable or (row and row.key_variable) or token_variable(name)
    if (
        own.family or (row and row.family)
    ) == "ollama":  # below /v1 it lists its models, and it alone tells their sizes
        fields = {"sizes": "ollama"} | fields
        fields |= {"base_url": f"{own.base_url.rstrip('/').removesuffix('/v1')}/v1"} if own.base_url else {}
    if row is None:
        if not own.base_url:
            raise UsageError(
                f"The provider {name!r} has no base_url.", f"Set it under [providers.{name}] in settings.toml."
            )
        return Vendor(**{"name": name, "title": name, "family": "openai_chat"} | fields)
    if own.base_url and row.family_elsewhere:
        fields.setdefault("family", row.family_elsewhere)
    return replace(row, **fields)


def token_variable(name: str) -> str:
    """Return the variable that may hold a token of a provider with a sign-in."""
    return re.sub(r"\W", "_", name).upper() + "_TOKEN"


def _override_info(info: ModelInfo, own: Price) -> ModelInfo:
    """Return the known facts, overridden by the person's."""
    sized = replace(info, window=own.window or info.window, max_output=own.max_output or info.max_output)
    if own.input is None or own.output is None:
        return sized
    return replace(sized, prices=Prices(own.input, own.output, own.cache_read, own.cache_write), tiers=())


def suggest_provider(name: str, settings: Settings, catalogue: Catalogue) -> str:
    """Return a hint for a name that is no provider: the one that may be meant, or where they are listed."""
    names = list(list_vendors(settings, catalogue))
    if near := _nearest_word(name, names):
        return f"Did you mean {near}? List all providers: halo models --all"
    return f"Known providers include {', '.join(USUAL)}. List all {len(names)}: halo models --all"


def _nearest_word(word: str, words: list[str]) -> str:
    from difflib import get_close_matches

    plain = {each.lower(): each for each in words}
    return next((plain[each] for each in get_close_matches(word.lower(), plain, n=1, cutoff=CLOSE)), "")
