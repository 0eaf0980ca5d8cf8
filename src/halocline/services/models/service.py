"""The models you can use: list them, test a connection, refresh the catalogue, and the API keys they need."""

from contextlib import suppress

from msgspec.structs import replace

from halocline.protocol.errors import HaloclineError
from halocline.protocol.kinds import Mode
from halocline.providers.catalog.refresh import Refreshed, refresh_catalogue
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.models.connection_test import ModelConnection, check_connection
from halocline.runtime.models.efforts import Efforts, list_efforts
from halocline.runtime.models.local_servers import find_usual_model
from halocline.runtime.network import find_network
from halocline.services.models.accounts import Accounts
from halocline.services.models.model_list import OfferedModel, offered_models

PATIENCE = 30.0
"""Timeout in seconds for a silent catalogue server."""


class ModelService:
    """The models of one home and its settings."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly

    async def list_models(self) -> list[OfferedModel]:
        """Return the models that can be used here. Queries local model servers."""
        chosen = self._assembly
        return await offered_models(chosen.settings, chosen.env, chosen.keys, chosen.catalogue)

    def list_brought(self) -> dict[str, str]:
        """Return the providers of plug-ins by name, each with its plug-in; they may have models that none names."""
        return {name: one.plugin for name, one in self._assembly.catalogue.brought.items()}

    async def find_usual(self) -> str:
        """Return the model of a task that names none; empty if there is none. Raises SecretsError."""
        chosen = self._assembly
        return await find_usual_model(chosen.settings, chosen.keys, chosen.catalogue)

    async def can_start(self, model: str = "") -> bool:
        """Return True if a task could begin with a model, by default that of the settings, or with any other one."""
        with suppress(HaloclineError):
            await self._assembly.model(model)
            return True
        return any(one.usable for one in await self.list_models())

    async def refresh(self) -> Refreshed:
        """Download the model catalogue again. Raises HaloclineError and then keeps the old one."""
        chosen = self._assembly
        network = find_network(chosen.settings.catalogue_url, chosen.settings, chosen.env)
        network = replace(network, first_byte_timeout=PATIENCE, stall_timeout=PATIENCE)
        return await refresh_catalogue(chosen.settings.catalogue_url, chosen.home.catalogue, network)

    async def connect(self, model: str = "") -> ModelConnection:
        """Test the connection to a model, by default the one a new task would use. Raises UsageError."""
        chosen = self._assembly
        return await check_connection(model, chosen.settings, chosen.env, chosen.keys, chosen.blobs, chosen.catalogue)

    def efforts(self, model: str, mode: Mode) -> Efforts:
        """Return the reasoning efforts that a model supports, and the defaults for a mode."""
        return list_efforts(model, mode, self._assembly.settings, self._assembly.catalogue)

    @property
    def accounts(self) -> Accounts:
        """API keys of the providers."""
        chosen = self._assembly
        return Accounts(chosen.home, chosen.settings, chosen.env, chosen.blobs, chosen.catalogue)
