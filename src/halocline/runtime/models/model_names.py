"""Model names without a provider: aliases, names that the catalogue knows, and words for the newest of a family.

They are looked up among the providers that have a key, in the order of the list of providers.
"""

import re
from collections.abc import Iterable

from halocline.protocol.errors import UsageError
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.vendor import Vendor
from halocline.runtime.models.keys import Keys
from halocline.runtime.models.vendors import find_vendor, list_vendors
from halocline.store.settings.settings import Settings

FAMILIES = {
    **{word: rf"claude-{word}-[\d.-]+" for word in ("fable", "haiku", "opus", "sonnet")},
    "gpt": r"gpt-[\d.]+",
    "flash": r"gemini-[\d.]+-flash",
}
"""Words for the newest model of a family, and the names of its models."""
NO_CHAT = re.compile(r"embed|realtime|whisper|-tts|transcribe|moderation|rerank|dall-e|-image")
"""Names of models that no agent can talk to."""
_DATE = 1000


def complete_name(name: str, settings: Settings, keys: Keys, catalogue: Catalogue) -> str:
    """Return a name as `provider/model`; the name itself if that is a provider. Raises UsageError."""
    name = settings.model_aliases.get(name, name)
    if "/" in name or name in settings.providers:
        return name
    vendors = list_vendors(settings, catalogue)
    if name in vendors:
        return name
    if found := _find_model(name, [vendor for vendor in vendors.values() if keys.has_key(vendor)], catalogue):
        return found
    if found := _find_model(name, vendors.values(), catalogue):
        provider = found.partition("/")[0]
        raise UsageError(
            f"No provider with a key has a model {name!r}.", f"It is {found}, for example: halo login {provider}"
        )
    find_vendor(name, settings, catalogue)  # raises, with suggestions
    return name


def _find_model(name: str, vendors: Iterable[Vendor], catalogue: Catalogue) -> str:
    """Return the first vendor's model of that name, or its newest of the family of that word; empty if none has it."""
    family = re.compile(FAMILIES.get(name, re.escape(name)))
    for vendor in vendors:
        listed = catalogue.names(vendor.catalogue or vendor.name)
        if fitting := [model for model in listed if family.fullmatch(model.rpartition("/")[2])]:
            return f"{vendor.name}/{newest_first(fitting)[0]}"
    return ""


def newest_first(names: Iterable[str]) -> list[str]:
    """Sort models by family, the newest of each first; one with a date comes after the same one without."""
    return sorted(names, key=lambda name: (re.sub(r"\d[\d.-]*", "", name), _age(name), name))


def _age(model: str) -> tuple[int, ...]:
    """Return the numbers of a name, so that newer ones are less."""
    numbers = [int(number) for number in re.findall(r"\d+", model)]
    ages = [1 if number >= _DATE else -number for number in numbers]
    return tuple([*ages, *(0,) * 6][:6])
