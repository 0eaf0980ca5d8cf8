"""The reasoning efforts that a model supports, and the default if a task sets none."""

from halocline.context.request import Thinking
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import Effort
from halocline.protocol.values import Value
from halocline.providers.catalog.file import Catalogue
from halocline.providers.endpoint import Endpoint
from halocline.providers.thinking import list_levels
from halocline.runtime.models.resolve import thinking_by_mode
from halocline.runtime.models.vendors import find_vendor, with_known_facts
from halocline.store.settings.settings import Settings


class Efforts(Value, frozen=True, omit_defaults=False):
    """Efforts of a model. `levels` are those it distinguishes, lowest first; empty if it supports no effort.

    `usual` and `usual_budget` (tokens) are the defaults from the settings for the mode.
    """

    levels: tuple[Effort, ...] = ()
    usual: Effort | None = None
    usual_budget: int | None = None


def list_efforts(model: str, mode: Mode, settings: Settings, catalogue: Catalogue) -> Efforts:
    """Return the efforts of a model, given by its full name."""
    usual = thinking_by_mode(settings).get(mode, Thinking())
    provider, _, name = model.partition("/")
    try:
        vendor = find_vendor(provider, settings, catalogue)
        at = with_known_facts(Endpoint(vendor, name, base_url=settings.base_url), settings, catalogue)
    except UsageError:
        return Efforts((), usual.effort, usual.budget)
    return Efforts(list_levels(at), usual.effort, usual.budget)
