"""Choose a task's system prompt: full or compact, and the person's options."""

from collections.abc import Iterable

from halocline.context.system_prompt.build import SMALL_SIZE, SMALL_WINDOW, PromptOptions
from halocline.context.system_prompt.model_families import size_of
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.models import UNKNOWN
from halocline.runtime.models.vendors import find_model_facts
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings


def is_compact(models: Iterable[str], settings: Settings, catalogue: Catalogue) -> bool:
    """True if a task with these models gets the compact prompt."""
    if settings.prompt != "auto":
        return settings.prompt == "compact"
    return any(_is_small(name, settings, catalogue) for name in models)


def _is_small(name: str, settings: Settings, catalogue: Catalogue) -> bool:
    told = catalogue.told.get(name, UNKNOWN)
    window = find_model_facts(name, settings, catalogue).window or told.window
    size = told.size or size_of(name)
    return (window is not None and window <= SMALL_WINDOW) or (size is not None and size <= SMALL_SIZE)


def read_prompt_options(settings: Settings, home: Home) -> PromptOptions:
    """Read the person's options for the system prompt. Raises SettingsError."""
    if not (settings.system_prompt_file or settings.append_system_prompt or home.prompts.is_dir()):
        return PromptOptions(language=settings.language)
    from halocline.store.settings import prompt_files

    return prompt_files.read_prompt_options(
        home.root, whole=settings.system_prompt_file, added=settings.append_system_prompt, language=settings.language
    )
