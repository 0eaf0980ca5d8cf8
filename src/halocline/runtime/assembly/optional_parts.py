"""Parts of a task that load what they need on first use; most tasks never use it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.hosts.language_servers.servers import LanguageServers
from halocline.ports.diagnostics import Diagnostics, NoDiagnostics
from halocline.protocol.events import DurableEvent
from halocline.protocol.events.jobs import JobState
from halocline.protocol.events.mentions import Mentioned
from halocline.protocol.messages import Message, UserPart
from halocline.protocol.state.state import State
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings
from halocline.store.tasks import history
from halocline.task.host import TaskHost
from halocline.task.log import read_past

if TYPE_CHECKING:
    from halocline.ports.checkpoints import Checkpoints, Content, Emit
    from halocline.ports.subagents import Merged, Report, Subagents, Wanted
    from halocline.protocol.events.subagents import SubagentStarted
    from halocline.runtime.mentions.resolver import Resolver
    from halocline.runtime.parts.editor_parts import EditorParts
    from halocline.runtime.parts.program_parts import PluginParts

SHORTLY = 0.1
"""Seconds from the beginning of a task until its checkpoints are built: the warm-up has loaded their modules then."""


def build_diagnostics(
    settings: Settings,
    workspace: Path,
    hidden: frozenset[str],
    env: Mapping[str, str],
    editor: "EditorParts | None" = None,
) -> Diagnostics:
    """Build the diagnostics after edits, also from an `editor`. Language servers do not get the `hidden` variables."""
    chosen = settings.language_servers
    if not chosen.enabled:
        return NoDiagnostics()
    servers = LanguageServers(
        workspace,
        chosen.wait,
        project_programs=chosen.project_binaries,
        hidden=hidden,
        environment=env,
        encodings=settings.encodings,
    )
    return editor.build_diagnostics(servers, chosen.wait) if editor else servers


class LazyMentions:
    """Implements `ports.mentions.Mentions`; prompts without mentions load nothing."""

    def __init__(self, host: TaskHost, home: Home) -> None:
        self._host = host
        self._home = home

    async def resolve(
        self, words: Sequence[str], state: State, visible: Sequence[Message] = (), files: Sequence[str] = ()
    ) -> tuple[UserPart, ...]:
        return await self._resolver.resolve(words, state, visible, files)

    async def sizes(self, words: Sequence[str], state: State) -> tuple[Mentioned, ...]:
        return await self._resolver.sizes(words, state)

    @cached_property
    def _resolver(self) -> "Resolver":
        from halocline.runtime.mentions.resolver import Resolver

        return Resolver(self._host, self._home.root, self._past)

    def _past(self, name: str) -> tuple[str, Sequence[DurableEvent]]:
        whole = history.find_task(self._home.tasks, name)
        return whole, tuple(read_past(self._home.task(whole), whole))


class LazySubagents:
    """Implements `ports.subagents.Subagents` once it is bound; what runs them is built on first use."""

    def __init__(self, plugins: "PluginParts | None" = None, *, trusted: bool) -> None:
        self.plugins = plugins
        """The task's plug-ins."""
        self.trusted = trusted
        """Lets the hooks of the task's folder run."""

    def bind(self, build: "Callable[[], Subagents]") -> None:
        self._build = build

    async def run(self, wanted: "Sequence[Wanted]", call: str, rule: str) -> "tuple[Report, ...]":
        return await self._subagents.run(wanted, call, rule)

    async def start(self, wanted: "Wanted", call: str, rule: str) -> "SubagentStarted":
        return await self._subagents.start(wanted, call, rule)

    def send(self, to: str, text: str) -> None:
        self._subagents.send(to, text)

    async def merge(self, agent: str, files: dict[str, bytes | None]) -> "dict[str, Merged]":
        return await self._subagents.merge(agent, files)

    async def note_merged(self, agent: str, taken: dict[str, bytes | None]) -> None:
        await self._subagents.note_merged(agent, taken)

    async def close(self) -> None:
        if "_subagents" in self.__dict__:
            await self._subagents.close()
        self.__dict__.pop("_build", None)  # it refers to the task, which would be a cycle

    @cached_property
    def _subagents(self) -> "Subagents":
        return self._build()


def has_jobs(host: TaskHost) -> Callable[[], bool]:
    """Return a function that is True while a job of the task runs."""
    return lambda: any(job.state is not JobState.ENDED for job in host.tools.shell.jobs.list())


class LazyCheckpoints:
    """Implements `ports.checkpoints.Checkpoints` with those that `build` returns.

    They are loaded when a call needs them, or shortly after the task began: by then its first request is out.
    """

    def __init__(self, build: Callable[[], "Checkpoints"]) -> None:
        self._build = build
        self._emit: Emit | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, emit: "Emit") -> None:
        self._emit = emit
        self._timer = asyncio.get_running_loop().call_later(SHORTLY, lambda: self._built)

    def take(self, label: str, paths: Sequence[str] | None = None) -> None:
        self._built.take(label, paths)

    def wrote(self, path: str, before: "Content", after: "Content") -> None:
        self._built.wrote(path, before, after)

    async def barrier(self, paths: Sequence[str] | None = None, *, ran: bool = True, destroys: bool = False) -> None:
        await self._built.barrier(paths, ran=ran, destroys=destroys)

    async def settle(self) -> None:
        await self._built.settle()

    async def close(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if "_built" in self.__dict__:
            await self._built.close()

    @cached_property
    def _built(self) -> "Checkpoints":
        if self._timer:
            self._timer.cancel()
        built = self._build()
        if self._emit:
            built.begin(self._emit)
        return built
