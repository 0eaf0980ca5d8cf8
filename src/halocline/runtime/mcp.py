"""The MCP servers of one folder: those configured, those that may run, why others may not, and the hub for a task."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace as replace_setup
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from halocline._version import __version__
from halocline.files.stamp import read_stamp
from halocline.hosts.shell.subprocesses import LocalPrograms
from halocline.mcp.cache import Offers
from halocline.mcp.connection.pool import Pool
from halocline.mcp.connection.setup import Setup
from halocline.mcp.hub import Hub
from halocline.mcp.pins import Pins
from halocline.mcp.variables import server_environment
from halocline.policy.mcp import rules_of
from halocline.ports.blobs import Blobs
from halocline.ports.mcp_servers import Server, ServerOwner, Servers
from halocline.ports.permissions import Permissions
from halocline.protocol.events import Noticed
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.kinds import Grant
from halocline.protocol.permission_rules import Rule, RuleBook
from halocline.protocol.state.state import State
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.vendors import VENDORS
from halocline.runtime.models.vendors import window_of
from halocline.runtime.network import find_network
from halocline.runtime.rules.hooks import FolderHooks
from halocline.store.mcp.servers import McpPlaces, read_servers
from halocline.store.paths import MANAGED, Home, mcp_files
from halocline.store.secrets.store import SecretStore
from halocline.store.settings.settings import Settings
from halocline.task.mcp_sampling import Bounds, Sampling
from halocline.task.parts import TaskParts
from halocline.task.task import Task

UNTRUSTED = "the folder is not trusted: halo trust add"
UNTRUSTED_ROOT = "the folder {folder} is not trusted: halo trust add {folder}"
WINDOW = 128_000
"""Context window in tokens to assume if it is unknown."""

Stamps = tuple[tuple[int, int, int] | None, ...]


@dataclass
class FolderServers:
    """The MCP servers of a folder and of the person; `given` are those that the person's editor brings.

    `others` are the other folders of a task, each with the trust in it; `plugins` are its plug-ins.
    """

    hooks: FolderHooks
    home: Home
    settings: Settings
    env: Mapping[str, str]
    keys: frozenset[str]
    blobs: Blobs
    catalogue: Catalogue
    pool: Pool
    managed: Path = MANAGED / "mcp.json"
    given: tuple[Server, ...] = ()
    others: tuple[FolderHooks, ...] = ()
    plugins: tuple[Plugin, ...] = ()

    def __post_init__(self) -> None:
        self.workspace = self.hooks.places.workspace
        others = self.env.get("HOME", "") if self.settings.mcp.others else ""
        roots = tuple(other.places.workspace for other in self.others)
        user = Path(others) if others else None
        self.places = McpPlaces(self.home.mcp, self.workspace, user, self.managed, roots, self.plugins)
        files = mcp_files(self.home, self.workspace, others, roots)
        self._files = [self.managed, *files, self.home.trust]
        self._read: dict[bool, tuple[Stamps, Servers]] = {}

    def servers(self, before: Servers | None = None, *, trusted: bool = False) -> Servers:
        """Return all configured servers; `problem` says why one may not run. Changed files are read again."""
        stamps = tuple(map(read_stamp, self._files))
        if trusted not in self._read or self._read[trusted][0] != stamps:
            found = read_servers(self.places, before, self.given)
            judged = self._judge_servers(found.servers, trusted=trusted)
            self._read[trusted] = (stamps, replace(found, servers=tuple(judged)))
        return self._read[trusted][1]

    def _judge_servers(self, servers: Sequence[Server], *, trusted: bool) -> Iterator[Server]:
        """Yield the servers; those of a folder that is not trusted have a problem."""
        known: dict[Path, bool] = {}
        for server in servers:
            if server.owner is not ServerOwner.PROJECT or server.problem or trusted:
                yield server
                continue
            of = next((each for each in self.others if server.file.is_relative_to(each.places.workspace)), self.hooks)
            folder = of.places.workspace
            if folder not in known:
                known[folder] = of.is_trusted
            problem = UNTRUSTED if of is self.hooks else UNTRUSTED_ROOT.format(folder=folder)
            yield server if known[folder] else replace(server, problem=problem, untrusted=True)

    def task(self, parts: TaskParts, roots: Iterable[str], *, trusted: bool) -> Task:
        """Build a task from these parts, with its servers and the permissions in their settings."""
        log, host = parts.log, parts.host

        def tell(text: str) -> None:
            log.show(Noticed(text))

        named = None if parts.inbox.attended else frozenset(server.name for server in self.given)
        hub = self.hub(tell, tuple(map(Path, roots)), trusted=trusted, task=log.task, named=named)
        permissions: Permissions = ServerPermissions(host.permissions, partial(self.servers, trusted=trusted))
        task = Task(replace(parts, host=replace(host, tools=replace(host.tools, mcp=hub), permissions=permissions)))
        self._allow_sampling(hub, task)
        return task

    def hub(
        self,
        tell: Callable[[str], None] = lambda text: None,
        folders: tuple[Path, ...] = (),
        *,
        trusted: bool = False,
        task: str = "",
        named: frozenset[str] | None = None,
    ) -> Hub:
        """Build the hub of the servers, ready to start."""
        return Hub(
            self.pool,
            replace_setup(self.setup(tell), programs=self.pool.programs, folders=folders),
            lambda before: self.servers(before, trusted=trusted),
            self.settings.mcp.wait,
            self._allowance,
            task,
            named,
        )

    def setup(self, tell: Callable[[str], None] = lambda text: None) -> Setup:
        """Build what the servers share."""
        return Setup(
            workspace=self.workspace,
            programs=build_programs(self.env),
            env=self.env,
            passed=self.settings.pass_environment,
            keys=self.keys | {name for vendor in VENDORS.values() for name in vendor.key_variables},
            blobs=self.blobs,
            offers=Offers(self.home.mcp_cache),
            pins=Pins(self.home.mcp_cache.parent / "mcp-approved.json"),
            logs=self.logs,
            version=__version__,
            tell=tell,
            network=lambda url: find_network(url, self.settings, self.env),
            secrets=SecretStore(self.home.credentials),
            sampling=self.settings.mcp.sampling != "off",
        )

    def _allow_sampling(self, hub: Hub, task: Task) -> None:
        """Let the servers of a task ask its model, as far as the settings allow."""
        mcp = self.settings.mcp
        if mcp.sampling != "off":
            bounds = Bounds(mcp.sampling == "ask", mcp.sampling_requests, mcp.sampling_tokens)
            hub.allow_sampling(Sampling(task.model, task.emit, lambda: task.state, task.tool_calls.asking.ask, bounds))

    @property
    def logs(self) -> Path:
        """Folder of the servers' output."""
        return self.home.logs / "mcp"

    def _allowance(self, state: State) -> int:
        return int((window_of(state.model.name, self.settings, self.catalogue) or WINDOW) * self.settings.mcp.share)


def build_programs(env: Mapping[str, str]) -> LocalPrograms:
    """Return what runs servers; the caller closes it."""
    return LocalPrograms(server_environment({}, env))


def build_pool(env: Mapping[str, str]) -> Pool:
    """Return the pool for the servers of all tasks in a process."""
    return Pool(build_programs(env))


class ServerPermissions:
    """Implements `ports.permissions.Permissions`: the rules of files, then those in the servers' settings."""

    def __init__(self, permissions: Permissions, servers: Callable[[], Servers]) -> None:
        self._permissions = permissions
        self._servers = servers

    def book(self) -> RuleBook:
        book = self._permissions.book()
        return replace(book, rules=(*book.rules, *rules_of_servers(self._servers())))

    def keep(self, grant: Grant, workspace: Path | None, by: str = "") -> None:
        self._permissions.keep(grant, workspace, by)

    def is_kept(self, grant: Grant, workspace: Path | None) -> bool:
        return self._permissions.is_kept(grant, workspace)


def rules_of_servers(servers: Servers) -> tuple[Rule, ...]:
    """Return rules for what the settings of servers allow without asking."""
    usable = (server for server in servers.servers if not server.problem and not server.entry.disabled)
    return tuple(
        rule
        for server in usable
        for rule in rules_of(server.name, server.entry.auto_approve, believed=server.entry.auto_approve_read_only)
    )
