"""The only place that names concrete classes: it wires the rooms into a task."""

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.context.manager import Context
from halocline.controller.key_choice import FoundKey, Keys
from halocline.controller.model_choice import open_model, with_text_tools
from halocline.controller.model_list import OfferedModel, offered_models
from halocline.hosts.files import LocalFiles
from halocline.hosts.ripgrep import Ripgrep
from halocline.hosts.shell import LocalShell
from halocline.ports.checkpoints import Checkpoints
from halocline.ports.model import Model
from halocline.ports.tool import Toolset
from halocline.protocol.secret import Secret
from halocline.protocol.state import State
from halocline.protocol.values import Value
from halocline.providers.catalog import VENDORS
from halocline.providers.correcting import Correcting
from halocline.providers.retry import Retrying
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.settings import Settings, load_settings, over
from halocline.task.governor import Governor, Limits
from halocline.task.inbox import Inbox
from halocline.task.log import Log
from halocline.task.task import Task
from halocline.task.tool_calls import Machine
from halocline.tools.toolset import ALL, Tools

if TYPE_CHECKING:
    from halocline.controller.accounts import Accounts
    from halocline.controller.connection_test import Connection


class Choices(Value, frozen=True):
    """What was chosen for this run over the settings. None: as the settings say."""

    base_url: str | None = None
    api_key: Secret | None = None
    text_tools: tuple[str, ...] | None = None
    max_steps: int | None = None
    max_cost: float | None = None
    time_limit: float | None = None
    connect_timeout: float | None = None
    first_byte_timeout: float | None = None
    stall_timeout: float | None = None
    proxy: str | None = None
    ca_file: str | None = None

    def over(self, settings: Settings) -> Settings:
        """The settings with these choices applied."""
        chosen = {name: value for name, value in asdict(self).items() if value is not None}
        chosen.pop("api_key", None)
        return over(settings, chosen)


class Assembly:
    """Makes tasks and their parts for one home and one set of settings."""

    def __init__(self, home: Home, settings: Settings, env: Mapping[str, str], api_key: Secret | None = None) -> None:
        self.home = home
        self.settings = settings
        self._env = env
        given = FoundKey(api_key, "--api-key") if api_key else None
        self._keys = Keys(home, env, given, settings.base_url)

    @classmethod
    def of(cls, choices: Choices, env: Mapping[str, str] = os.environ) -> "Assembly":
        """Read the home and the settings. Raises UsageError and SettingsError."""
        home = Home.of(env)
        return cls(home, choices.over(load_settings(home.settings, env)), env, choices.api_key)

    @cached_property
    def blobs(self) -> DiskBlobs:
        return DiskBlobs(self.home.blobs)

    async def model(self, named: str) -> Model:
        """The model that was named, or the one to take when none was. Raises UsageError."""
        model = await open_model(named, self.settings, self._env, self._keys, self.blobs)
        return Retrying(Correcting(with_text_tools(model, self.settings)))

    async def models(self) -> list[OfferedModel]:
        """The models that could be used, with what is known of them."""
        return await offered_models(self.settings, self._keys)

    async def connection(self, named: str) -> "Connection":
        """How far the way to a model goes. Raises UsageError and SecretsError."""
        from halocline.controller.connection_test import connection

        return await connection(named, self.settings, self._env, self._keys, self.blobs)

    @cached_property
    def accounts(self) -> "Accounts":
        """The providers' keys."""
        from halocline.controller.accounts import Accounts

        return Accounts(self.home, self.settings, self._env, self.blobs)

    def tools(self) -> Toolset:
        """The tools that the model is offered."""
        return Tools(ALL)

    def task(self, log: Log, state: State, workspace: Path, model: Model, *, attended: bool) -> Task:
        """One task, ready to be served. `workspace` is absolute."""
        settings = self.settings
        return Task(
            log=log,
            state=state,
            inbox=Inbox(attended=attended),
            model=model,
            context=Context(max_tokens=settings.max_tokens),
            toolset=self.tools(),
            checkpoints=self._checkpoints(workspace, log.task),
            governor=Governor(
                Limits(settings.max_steps, settings.max_cost, settings.time_limit, settings.max_failures)
            ),
            machine=self._machine(log.path.parent),
            home=self.home.root,
        )

    def shadow_git(self, workspace: Path, task: str) -> ShadowGit:
        """The checkpoints of a workspace; new ones are counted as the task's."""
        return ShadowGit(self.home.checkpoints, workspace, task)

    def _checkpoints(self, workspace: Path, task: str) -> Checkpoints:
        if self.settings.checkpoints:
            return self.shadow_git(workspace, task)
        from halocline.checkpoints.off import Off

        return Off()

    def _machine(self, folder: Path) -> Machine:
        keys = frozenset(name for vendor in VENDORS.values() for name in vendor.key_variables)
        return Machine(LocalFiles(), LocalShell(folder / "outputs", keys), Ripgrep(), self.blobs)
