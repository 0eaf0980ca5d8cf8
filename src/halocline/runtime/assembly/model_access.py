"""The models of one home and its settings: their keys, their catalogue, how a task opens them; the known secrets."""

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from halocline.net.address import show_address
from halocline.net.network import Network
from halocline.ports.model import BroughtProvider, Model, Terms
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import Mode
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value
from halocline.providers import wrappers
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.providers.catalog.models import dearest_prices
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import base_url_of
from halocline.providers.wrappers.pace import Paces
from halocline.providers.wrappers.per_mode import Switching
from halocline.runtime import models
from halocline.runtime.assembly.redactor import KnownValues
from halocline.runtime.models.keys import FoundKey, Keys, key_variables
from halocline.runtime.models.resolve import list_model_names, open_model, with_retries
from halocline.runtime.models.vendors import find_model_facts, find_vendor, require_allowed, takes_images
from halocline.runtime.network import find_network
from halocline.runtime.task_options import Choices
from halocline.store.blobs import DiskBlobs
from halocline.store.model_habits import ModelHabits
from halocline.store.paths import Home
from halocline.store.settings.load import finish_settings, read_own, with_overrides
from halocline.store.settings.managed import ManagedSettings, read_managed, require_managed
from halocline.store.settings.settings import Settings

if TYPE_CHECKING:
    from halocline.ports.editor_models import EditorModels


class Layers(Value, frozen=True):
    """The person's raw settings, those in force with a folder's, and why others of the folder are not."""

    own: dict[str, Any]
    settings: Settings
    refused: tuple[str, ...] = ()


class ModelAccess:
    """Opens models. `is_watched` returns True while a person could decide about an outage."""

    choices: Choices | None = None
    """Options of this run, with which the settings can be loaded again; None if these settings are fixed."""
    own: Mapping[str, Any] = {}
    """The person's raw settings."""
    refused: tuple[str, ...] = ()
    """Why settings of the folder's own file, or options of this run, are not in force."""
    managed: ManagedSettings = ManagedSettings()
    """The settings of the administrator."""
    given_env: Mapping[str, str] = os.environ
    """The variables as they are, also those that the administrator's settings leave out."""

    @property
    def editor_models(self) -> "EditorModels | None":
        """The models of the editor that this runs in."""
        return None

    @property
    def given_models(self) -> Mapping[str, Model]:
        """Models that the program brought, by name."""
        return {}

    @cached_property
    def paces(self) -> Paces:
        """The paces at which tasks ask models."""
        return Paces()

    def list_brought(self) -> Mapping[str, BroughtProvider]:
        """Return the providers of plug-ins, by name."""
        return {}

    def __init__(
        self,
        home: Home,
        settings: Settings,
        env: Mapping[str, str],
        api_key: Secret | None = None,
        is_watched: Callable[[], bool] = lambda: True,
    ) -> None:
        self.is_watched = is_watched
        self.home = home
        self.settings = settings
        self.env = env
        given = FoundKey(api_key, "--api-key") if api_key else None
        self.keys = Keys(home, env, given, settings.base_url)
        self._other_keys = Keys(home, env)
        self._search_keys = Keys(home, env, base_url=settings.web_search.url)

    @classmethod
    def of(
        cls,
        choices: Choices,
        env: Mapping[str, str] = os.environ,
        *,
        layers: Layers | None = None,
        home: Home | None = None,
    ) -> Self:
        """Read the home and the settings; `layers` are settings already read. Raises UsageError and SettingsError.

        `home` is another one than that of the variables. What the administrator set is applied last.
        """
        home = home or Home.of(env)
        managed = read_managed(home.managed_settings)
        for file in (home.managed_rules, home.managed_mcp):
            require_managed(file)
        own = layers.own if layers else read_own(home.settings, env, choices.profile, but=choices.changes or "")
        finished = layers.settings if layers else finish_settings(own, str(home.settings), env)
        settings = managed.bind(choices.over(finished))
        given, env = env, _without_addresses(env) if managed.limits_models else env
        access = cls(home, settings, env, choices.api_key, is_watched=lambda: not choices.unattended)
        refused = (*(layers.refused if layers else ()), *managed.list_refused(choices.chosen, settings))
        access.choices, access.own, access.refused, access.managed = choices, own, refused, managed
        access.given_env = given
        return access

    @cached_property
    def blobs(self) -> DiskBlobs:
        return DiskBlobs(self.home.blobs)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The catalogue of providers and models; read on first use."""
        return Catalogue(self.home.catalogue, BUNDLED, editor=lambda: self.editor_models, brought=self.list_brought)

    async def model(self, named: str) -> Model:
        """Open the named model, or the ones in the settings for act and plan mode.

        Raises:
            UsageError: one of them, or of the fallback models, cannot be used.
        """
        self._require_its_model(named)
        act = await self._with_fallback(await self._open(named, self.settings, self.keys))
        wanted = self._full_name(self.settings.plan.model)
        if named or wanted in ("", act.name):
            return act

        return await self._pair(act, wanted)

    async def model_pair(self, act: str, plan: str) -> Model:
        """Open a model for each mode. Raises UsageError."""
        self._require_its_model(act)
        return await self._pair(await self._with_fallback(await self._open(act, self.settings, self.keys)), plan)

    async def _pair(self, act: Model, plan: str) -> Model:
        return Switching({Mode.ACT: act, Mode.PLAN: await self._with_fallback(await self._beside(plan, act))})

    async def _with_fallback(self, model: Model) -> Model:
        names = [name for name in map(self._full_name, self.settings.fallback_models) if name != model.name]
        if not names:
            return model
        return wrappers.fallback.Fallback([model, *[await self._beside(name, model) for name in names]])

    async def _beside(self, named: str, main: Model) -> Model:
        """Open a model beside the main one. A base URL and key from flags apply only to the main one's provider."""
        if named.partition("/")[0] == main.name.partition("/")[0]:
            return await self._open(named, with_overrides(self.settings, {"context_window": None}), self.keys)
        elsewhere = with_overrides(self.settings, {"base_url": "", "context_window": None})
        return await self._open(named, elsewhere, self._other_keys)

    def _require_its_model(self, named: str) -> None:
        """Raise UsageError if the administrator set another model."""
        fixed = self.managed.rows.get("model")
        if named and fixed and self._full_name(named) != self._full_name(fixed):
            raise UsageError(f"The model {named} cannot be used: model is {self.managed.source}.", "Name none.")

    def _full_name(self, name: str) -> str:
        """Return a name with its provider. Raises UsageError."""
        if not name or ("/" in name and name not in self.settings.model_aliases):
            return name
        return models.model_names.complete_name(name, self.settings, self._other_keys, self.catalogue)

    async def _open(self, named: str, settings: Settings, keys: Keys) -> Model:
        if given := self.given_models.get(named):
            require_allowed(f"program/{named}", settings)
            at = models.vendors.describe_given_model(named, settings, self.catalogue)
            return self._with_retries(wrappers.own_usage.OwnUsage(given, at, given.name), settings)
        model = await open_model(
            named, settings, self.env, keys, self.blobs, self.catalogue, self.note_sent, ModelHabits(self.home.habits)
        )
        return self._with_retries(model, settings)

    def _with_retries(self, model: Model, settings: Settings) -> Model:
        pace = self.paces.find(model.name, settings.requests_per_minute)
        return with_retries(model, settings, lambda: self.is_watched(), pace)

    def find_server(self, model: str, main: str = "") -> str:
        """Return the address given for a model's provider by a flag, a setting or a variable; empty: its own.

        Those of flags and settings apply only to the provider of the `main` model. Raises UsageError.
        """
        provider, named, _ = model.partition("/")
        if not named or model in self.given_models:
            return ""
        given = self.settings.base_url if provider == (main or model).partition("/")[0] else ""
        vendor = find_vendor(provider, self.settings, self.catalogue)
        address = base_url_of(vendor, self.env, given)
        return "" if address == VENDORS.get(vendor.name, vendor).base_url else show_address(address)

    def find_terms(self, named: str, read: int) -> Terms:
        """Return what a request of up to `read` tokens to a model may take at most, as far as it is known."""
        if named in self.given_models:
            info = models.vendors.describe_given_model(named, self.settings, self.catalogue).info
        else:
            info = find_model_facts(named, self.settings, self.catalogue)
        if info.prices is None:
            info = self.catalogue.told.get(named, info)
        if prices := dearest_prices(info, read):
            return Terms(*prices, info.max_output)
        return Terms(reply=info.max_output)

    def note_sent(self) -> None:
        """Take note that a request to a model was sent."""

    async def names(self, named: str) -> dict[Mode, str]:
        """Return the names of the models that a task would use, without opening them. Raises UsageError."""
        return await list_model_names(named, self.settings, self.keys, self.catalogue)

    def _sees(self, model: str) -> bool:
        return takes_images(model, self.settings, self.catalogue)

    def _find_network(self, url: str) -> Network:
        return find_network(url, self.settings, self.env)

    def key_variables(self) -> frozenset[str]:
        """Return the variables that hold keys; no command gets them."""
        return key_variables(self.settings, self.env, self.catalogue)

    @cached_property
    def secrets(self) -> KnownValues:
        """The secrets to redact from every text that the model reads, that is logged, or that leaves the home."""
        keys = (self.keys, self._other_keys, self._search_keys)
        return KnownValues(self.home, self.settings, self.env, self.key_variables, keys)


def _without_addresses(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables without those that lead a provider's name to another server."""
    places = {vendor.base_url_variable for vendor in VENDORS.values()}
    return {name: value for name, value in env.items() if name not in places}
