"""The only place that names concrete classes: it wires the rooms into a task."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import asdict

from halocline.checkpoints.shadow_git import ShadowGit
from halocline.context.manager import Context, Thinking
from halocline.controller.key_choice import FoundKey, Keys
from halocline.controller.model_choice import open_model, with_text_tools
from halocline.controller.model_list import OfferedModel, offered_models
from halocline.controller.network_choice import network_to
from halocline.controller.vendor_choice import remark, takes_images
from halocline.hosts.code import TreeSitter
from halocline.hosts.documents import ChildDocuments
from halocline.hosts.files import LocalFiles
from halocline.hosts.ripgrep import Ripgrep
from halocline.hosts.shell import LocalShell
from halocline.hosts.web import LocalWeb
from halocline.net.network import Network
from halocline.ports.checkpoints import Checkpoints
from halocline.ports.model import Model
from halocline.ports.tool import Toolset
from halocline.protocol.events import DurableEvent, Mode, Noticed
from halocline.protocol.messages import Effort
from halocline.protocol.secret import Secret
from halocline.protocol.state import State
from halocline.protocol.values import Value
from halocline.providers.catalogue_file import BUNDLED, Catalogue
from halocline.providers.correcting import Correcting
from halocline.providers.retry import Retrying
from halocline.providers.vendors import VENDORS
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import HOOK_FOLDERS, HOOK_SETTINGS, OWN_HOOK_FOLDERS, OWN_HOOK_SETTINGS, Home
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
    from halocline.controller.course import Course
    from halocline.controller.hooks import FolderHooks
    from halocline.controller.replayed import Replayed
    from halocline.ports.hooks import Hooks
    from halocline.providers.catalogue_refresh import Refreshed
    from halocline.store.recording import Recorder

RECORDED_SETTINGS = (
    "max_steps",
    "max_cost",
    "time_limit",
    "max_failures",
    "max_tokens",
    "effort",
    "thinking_budget",
    "plan",
)
"""The settings that the course of a task depends on."""
PATIENCE = 30.0
"""Seconds for which a server of catalogues may be silent."""


class Choices(Value, frozen=True):
    """What was chosen for this run over the settings. None: as the settings say."""

    profile: str | None = None
    base_url: str | None = None
    api_key: Secret | None = None
    text_tools: tuple[str, ...] | None = None
    effort: Effort | None = None
    thinking_budget: int | None = None
    max_steps: int | None = None
    max_cost: float | None = None
    time_limit: float | None = None
    connect_timeout: float | None = None
    first_byte_timeout: float | None = None
    stall_timeout: float | None = None
    proxy: str | None = None
    ca_file: str | None = None
    hook_folders: tuple[str, ...] | None = None

    def over(self, settings: Settings) -> Settings:
        """The settings with these choices applied."""
        chosen = {name: value for name, value in asdict(self).items() if value is not None}
        chosen.pop("api_key", None)
        chosen.pop("profile", None)
        return over(settings, chosen)


class Assembly:
    """Makes tasks and their parts for one home and one set of settings."""

    def __init__(self, home: Home, settings: Settings, env: Mapping[str, str], api_key: Secret | None = None) -> None:
        self.home = home
        self.settings = settings
        self._env = env
        given = FoundKey(api_key, "--api-key") if api_key else None
        self._keys = Keys(home, env, given, settings.base_url)
        self._other_keys = Keys(home, env)

    @classmethod
    def of(cls, choices: Choices, env: Mapping[str, str] = os.environ) -> "Assembly":
        """Read the home and the settings. Raises UsageError and SettingsError."""
        home = Home.of(env)
        settings = choices.over(load_settings(home.settings, env, choices.profile))
        return cls(home, settings, env, choices.api_key)

    @cached_property
    def blobs(self) -> DiskBlobs:
        return DiskBlobs(self.home.blobs)

    @cached_property
    def catalogue(self) -> Catalogue:
        """What is known of providers and models; read when something is asked."""
        return Catalogue(self.home.catalogue, BUNDLED)

    async def model(self, named: str) -> Model:
        """What a task asks: the model that was named, or those that the settings name for act and plan mode.

        Raises:
            UsageError: one of them, or of the fallback models, cannot be used.
        """
        act = await self._with_fallback(await self._open(named, self.settings, self._keys))
        wanted = self.settings.plan.model
        if named or wanted in ("", act.name):
            return act
        from halocline.providers.switching import Switching

        return Switching({Mode.ACT: act, Mode.PLAN: await self._with_fallback(await self._beside(wanted, act))})

    async def _with_fallback(self, model: Model) -> Model:
        names = [name for name in self.settings.fallback_models if name != model.name]
        if not names:
            return model
        from halocline.providers.fallback import Fallback

        return Fallback([model, *[await self._beside(name, model) for name in names]])

    async def _beside(self, named: str, main: Model) -> Model:
        """Another model than the main one. A base URL and a key that were given are for the main one's provider."""
        if named.partition("/")[0] == main.name.partition("/")[0]:
            return await self._open(named, self.settings, self._keys)
        return await self._open(named, over(self.settings, {"base_url": ""}), self._other_keys)

    async def _open(self, named: str, settings: Settings, keys: Keys) -> Model:
        model = await open_model(named, settings, self._env, keys, self.blobs, self.catalogue)
        return Retrying(Correcting(with_text_tools(model, settings)))

    async def models(self) -> list[OfferedModel]:
        """The models that could be used, with what is known of them."""
        return await offered_models(self.settings, self._keys, self.catalogue)

    def remark(self, model: str) -> str:
        """What a person should hear of the model that they chose; mostly nothing."""
        return remark(model, self.settings, self._env, self.catalogue)

    async def refresh_models(self) -> "Refreshed":
        """Fetch the catalogue anew. Raises HaloclineError; then the old one stays."""
        from halocline.providers.catalogue_refresh import refresh

        url = self.settings.catalogue_url
        way = replace(network_to(url, self.settings, self._env), first_byte_timeout=PATIENCE, stall_timeout=PATIENCE)
        return await refresh(url, self.home.catalogue, way)

    async def connection(self, named: str) -> "Connection":
        """How far the way to a model goes. Raises UsageError and SecretsError."""
        from halocline.controller.connection_test import connection

        return await connection(named, self.settings, self._env, self._keys, self.blobs, self.catalogue)

    @cached_property
    def accounts(self) -> "Accounts":
        """The providers' keys."""
        from halocline.controller.accounts import Accounts

        return Accounts(self.home, self.settings, self._env, self.blobs, self.catalogue)

    def tools(self) -> Toolset:
        """The tools that the model is offered."""
        return Tools(ALL)

    def task(
        self, log: Log, state: State, workspace: Path, model: Model, *, attended: bool, trusted: bool = False
    ) -> Task:
        """One task, ready to be served. `workspace` is absolute; `trusted` lets its hooks run this time."""
        parts = self._parts(log, state, workspace, self._hooks(workspace, log, trusted=trusted))
        return Task(**parts, model=model, inbox=Inbox(attended=attended))

    def hooks_of(self, workspace: Path) -> "FolderHooks":
        """The hooks that are set up for a folder, and whether they may run."""
        from halocline.controller.hooks import FolderHooks

        return FolderHooks(workspace, self.home, self.settings, self._env)

    def _hooks(self, workspace: Path, log: Log, *, trusted: bool) -> "Hooks | None":
        if not self.settings.hooks or not self._has_hooks(workspace):
            return None
        return self.hooks_of(workspace).live(log.path, self._key_variables(), trusted=trusted)

    def may_run_code(self, workspace: Path) -> bool:
        """Whether a folder might have hooks of its own; quickly told."""
        return self.settings.hooks and any((workspace / name).exists() for name in (*HOOK_FOLDERS, *HOOK_SETTINGS))

    def _has_hooks(self, workspace: Path) -> bool:
        """Whether any place of hooks is there; most often none is, and nothing more is loaded."""
        places: list[Path] = []
        if user := self._env.get("HOME"):
            places += [Path(user, name) for name in (*OWN_HOOK_FOLDERS, *OWN_HOOK_SETTINGS)]
        places += [self.home.hooks, *map(Path, self.settings.hook_folders)]
        return self.may_run_code(workspace) or any(os.path.exists(os.path.expanduser(place)) for place in places)

    def replayed(
        self, log: Log, state: State, workspace: Path, model: Model, tools: Toolset, course: "Course"
    ) -> "Replayed":
        """A task that follows a recording's course, and its clock."""
        from halocline.controller.recorded import RecordedHooks
        from halocline.controller.replayed import Replayed

        parts = self._parts(log, state, workspace, RecordedHooks(course))
        parts |= {"toolset": tools, "governor": Governor(self._limits(), clock=course.clock)}
        return Replayed(**parts, model=model, inbox=Inbox(attended=True), course=course)

    def for_replay(self, recorded: Mapping[str, Any]) -> "Assembly":
        """The same, with the settings under which a task was recorded, and no checkpoints."""
        known = {name: recorded[name] for name in RECORDED_SETTINGS if name in recorded}
        then = msgspec.convert(known, Settings)
        chosen = {name: getattr(then, name) for name in known} | {"checkpoints": False}
        return Assembly(self.home, over(self.settings, chosen), self._env)

    def recorder(self, file: Path) -> "Recorder":
        """Writes a recording to a new file. Raises UsageError when it exists or cannot be made."""
        from halocline.store.recording import Recorder

        settings = {name: getattr(self.settings, name) for name in RECORDED_SETTINGS}
        names = self._key_variables() | {name for vendor in VENDORS.values() for name in vendor.key_variables}
        used = (key.reveal() for key in (*self._keys.used, *self._other_keys.used))
        return Recorder(file, settings, (*used, *(self._env.get(name, "") for name in names)))

    def recorded(self, model: Model, recorder: "Recorder", log: Log, past: Iterable[DurableEvent]) -> Model:
        """The model, with its requests and the log's events going to the recorder as well."""
        from halocline.controller.recorded import RecordingModel

        recorder.tell = lambda text: log.show(Noticed(text))
        for event in past:
            recorder.push(event)
        log.attach(recorder)
        return RecordingModel(model, recorder)

    def _parts(self, log: Log, state: State, workspace: Path, hooks: "Hooks | None") -> dict[str, Any]:
        return {
            "log": log,
            "state": state,
            "context": Context(self.settings.max_tokens, self._thinking()),
            "toolset": self.tools(),
            "checkpoints": self._checkpoints(workspace, log.task),
            "governor": Governor(self._limits()),
            "machine": self._machine(log.path.parent, state, hooks),
            "home": self.home.root,
        }

    def _thinking(self) -> Mapping[Mode, Thinking]:
        settings, plan = self.settings, self.settings.plan
        act = Thinking(settings.effort, settings.thinking_budget)
        own = plan.effort is not None or plan.thinking_budget is not None
        return {Mode.ACT: act, Mode.PLAN: Thinking(plan.effort, plan.thinking_budget) if own else act}

    def _limits(self) -> Limits:
        settings = self.settings
        return Limits(settings.max_steps, settings.max_cost, settings.time_limit, settings.max_failures)

    def shadow_git(self, workspace: Path, task: str) -> ShadowGit:
        """The checkpoints of a workspace; new ones are counted as the task's."""
        return ShadowGit(self.home.checkpoints, workspace, task)

    def _checkpoints(self, workspace: Path, task: str) -> Checkpoints:
        if self.settings.checkpoints:
            return self.shadow_git(workspace, task)
        from halocline.checkpoints.off import Off

        return Off()

    def _machine(self, folder: Path, state: State, hooks: "Hooks | None") -> Machine:
        return Machine(
            files=LocalFiles(self.home.edits),
            shell=LocalShell(folder / "outputs", self._key_variables(), first_job=state.jobs_started + 1),
            search=Ripgrep(),
            web=LocalWeb(self._way),
            blobs=self.blobs,
            code=TreeSitter(),
            documents=ChildDocuments(),
            takes_images=lambda name: takes_images(name, self.settings, self.catalogue),
            syntax_errors=self.settings.syntax_errors,
            hooks=hooks,
        )

    def _way(self, url: str) -> Network:
        return network_to(url, self.settings, self._env)

    def _key_variables(self) -> frozenset[str]:
        """The variables that commands must not see: keys of our rows, of a person's own, of the catalogue's."""
        rows = {name for vendor in VENDORS.values() if not vendor.shared_key for name in vendor.key_variables}
        own = {provider.key_variable for provider in self.settings.providers.values() if provider.key_variable}
        others = {name for name in self._env if name.endswith("_API_KEY")} - rows - own
        if others:
            others &= {name for entry in self.catalogue.providers().values() for name in entry.env}
        return frozenset(rows | own | others)
