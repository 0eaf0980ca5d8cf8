"""Parts of a task that most tasks never use, imported on demand."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from halocline.hosts.files.local import LocalFiles
from halocline.hosts.language_servers.servers import LanguageServers
from halocline.net.network import Network
from halocline.policy.paths import Judged
from halocline.ports.diagnostics import Diagnostics, NoDiagnostics
from halocline.ports.host import Files
from halocline.protocol.events import DurableEvent
from halocline.protocol.events.jobs import JobState
from halocline.protocol.events.mentions import Mentioned
from halocline.protocol.messages import Message, UserPart
from halocline.protocol.state.state import State
from halocline.runtime.assembly.network import ca_files
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings
from halocline.store.tasks import history
from halocline.task.host import TaskHost
from halocline.task.log import read_log

if TYPE_CHECKING:
    from halocline.checkpoints.shadow_git import ShadowGit
    from halocline.hosts.sandbox.sandbox import Sandbox
    from halocline.ports.browser import Browser
    from halocline.ports.checkpoints import Checkpoints
    from halocline.ports.subagents import Report, Subagents, Wanted
    from halocline.providers.wrappers.per_mode import Chosen
    from halocline.runtime.assembly.assembly import Assembly
    from halocline.runtime.mentions.resolver import Resolver
    from halocline.runtime.subagents.runner import Subtasks
    from halocline.task.task import Task


def build_diagnostics(
    settings: Settings, workspace: Path, hidden: frozenset[str], env: Mapping[str, str]
) -> Diagnostics:
    """Build the diagnostics after edits. Language servers do not get the `hidden` variables."""
    chosen = settings.language_servers
    if not chosen.enabled:
        return NoDiagnostics()
    return LanguageServers(
        workspace, chosen.wait, project_programs=chosen.project_binaries, hidden=hidden, environment=env
    )


class LazyMentions:
    """Implements `ports.mentions.Mentions`; prompts without mentions load nothing."""

    def __init__(self, host: TaskHost, home: Home) -> None:
        self._host = host
        self._home = home

    async def resolve(
        self, words: Sequence[str], state: State, visible: Sequence[Message] = ()
    ) -> tuple[UserPart, ...]:
        return await self._resolver.resolve(words, state, visible)

    async def sizes(self, words: Sequence[str], state: State) -> tuple[Mentioned, ...]:
        return await self._resolver.sizes(words, state)

    @cached_property
    def _resolver(self) -> "Resolver":
        from halocline.runtime.mentions.resolver import Resolver

        return Resolver(self._host, self._home.root, self._past)

    def _past(self, name: str) -> tuple[str, Sequence[DurableEvent]]:
        whole = history.find_task(self._home.tasks, name)
        return whole, tuple(read_log(self._home.log(whole)))


class TaskRuntime(NamedTuple):
    """The parts of the controller that a task needs to start tasks of its own."""

    assembly: "Callable[[], Assembly]"
    serve: "Callable[[str, Task, Chosen], str]"
    let_go: Callable[[str], Awaitable[Exception | None]]


class LazySubagents:
    """Implements `ports.subagents.Subagents` once it is bound to the controller's runtime; loaded on first use."""

    def __init__(self, *, trusted: bool) -> None:
        self._trusted = trusted

    def bind(self, task: "Task", runtime: TaskRuntime) -> None:
        self._task, self._runtime = task, runtime

    async def run(self, wanted: "Sequence[Wanted]", call: str, rule: str) -> "tuple[Report, ...]":
        return await self._subtasks.run(wanted, call, rule)

    @cached_property
    def _subtasks(self) -> "Subtasks":
        from halocline.runtime.subagents.runner import Subtasks

        return Subtasks(self._task, self._runtime, trusted=self._trusted)


def build_subagents(settings: Settings, *, trusted: bool) -> "Subagents | None":
    """Build the sub-agents of a task, or None if they are turned off; `trusted` as for the task."""
    return None if settings.subagents == "off" else LazySubagents(trusted=trusted)


def bind_runtime(task: "Task", runtime: TaskRuntime) -> None:
    """Bind a task's sub-agents to the controller's runtime, if it may have any."""
    if isinstance(subagents := task.host.tools.subagents, LazySubagents):
        subagents.bind(task, runtime)


def build_checkpoints(
    settings: Settings, store: "Callable[[Path], ShadowGit]", workspace: Path, roots: Sequence[str]
) -> "Checkpoints":
    """Build the checkpoints of a task without checkpoints, or with several folders."""
    if not settings.checkpoints:
        from halocline.checkpoints.off import Off

        return Off()
    from halocline.checkpoints.multi_root import RootedCheckpoints

    return RootedCheckpoints(workspace, store(workspace), {root: store(Path(root)) for root in roots})


def has_jobs(host: TaskHost) -> Callable[[], bool]:
    """Return a function that is True while a job of the task runs."""
    return lambda: any(job.state is not JobState.ENDED for job in host.tools.shell.jobs.list())


def build_reading_files() -> Files:
    """Return the files of this machine, for reading only."""
    return LocalFiles()


def files_within(*folders: Path, places: Sequence[str] = (), journals: Path | None = None) -> LocalFiles:
    """Return the files of this machine, for writing only in these folders or at these places, links resolved."""
    return LocalFiles(journals, Judged(tuple(places), *folders))


def build_browser(
    program: str, settings: Settings, env: Mapping[str, str], network: Callable[[str], Network]
) -> "Browser":
    """Build the browser of one task; it starts with the first page."""
    from halocline.hosts.browser.browser import BrowserSetup, LocalBrowser

    setup = BrowserSetup(program, settings.browser_remote, settings.viewport, ca_files(settings, env))
    return LocalBrowser(setup, network)


def build_sandbox(settings: Settings, state: Path, workspace: Path, roots: Sequence[str], folder: Path) -> "Sandbox":
    """Build the sandbox for a task's commands; `state` is Halocline's own folder, `folder` the task's in it."""
    from halocline.hosts.sandbox.mounts import SandboxRequest
    from halocline.hosts.sandbox.sandbox import Sandbox

    request = SandboxRequest(
        workspace=workspace.resolve(),
        home=Path.home().resolve(),
        state=state.resolve(),
        own=folder.resolve(),
        network=settings.sandbox_network,
        git_writes=settings.sandbox_git_writes or settings.sandbox == "in-auto",
        writable=tuple(Path(place).expanduser().resolve() for place in settings.sandbox_writable),
        processes=settings.sandbox_processes,
        file_size=settings.sandbox_file_size,
        roots=tuple(map(Path, roots)),
    )
    return Sandbox(request, required=settings.sandbox == "require")


def in_auto(settings: Settings, make: "Callable[[], Sandbox]") -> "Callable[[], Sandbox] | None":
    """Return `make` if the settings sandbox commands only in approval mode auto, else None."""
    return make if settings.sandbox == "in-auto" else None
