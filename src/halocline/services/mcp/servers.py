"""Manage MCP servers (`halo mcp`): list, test, add, remove, and turn on or off."""

import asyncio
import dataclasses
import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from halocline.hosts.web.oauth_callback import Loopback
from halocline.importers.mcp_servers import OtherServers, servers_elsewhere
from halocline.mcp.connection.supervisor import Supervisor
from halocline.mcp.hub import definitions_size
from halocline.mcp.registry.bundles import Bundle, unpack_bundle
from halocline.ports.mcp_servers import Server, ServerOwner
from halocline.protocol.config_locations import PROJECT_MCP
from halocline.protocol.errors import SettingsError, UsageError
from halocline.protocol.mcp_entries import OWN
from halocline.protocol.values import JsonObject, Value
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.mcp import FolderServers
from halocline.services.mcp.marketplace import Marketplace
from halocline.services.mcp.trials import CallbackPage, ServerTrial, try_server
from halocline.store.mcp import servers as mcp_files
from halocline.store.secrets.store import SecretStore

BUNDLE_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}"
SIGN_IN_LIMIT = 300.0
"""Seconds to wait for a person to sign in."""


class ListedServer(Value, frozen=True, omit_defaults=False):
    """One server in a list. `tools` and `tokens` are from its last run; None if it never ran.

    `decisions` has allow, ask or deny for each tool, in the approval mode of the settings.
    """

    name: str
    state: str
    owner: str
    file: str
    transport: str
    runs: str
    variables: tuple[str, ...] = ()
    tools: int | None = None
    tokens: int | None = None
    problem: str = ""
    decisions: dict[str, str] = {}


class McpService:
    """The servers of one folder."""

    def __init__(self, folder: FolderServers) -> None:
        self._folder = folder
        self.market = Marketplace(folder)

    @classmethod
    def open(cls, workspace: Path) -> "McpService":
        """Read the home and the settings. Raises UsageError and SettingsError."""
        return cls(Assembly.of(Choices()).in_folder(workspace).mcp_of(workspace))

    @property
    def problems(self) -> Sequence[str]:
        """Reasons why files cannot be read."""
        return self._folder.servers().problems

    @property
    def is_off(self) -> bool:
        """True if the settings turn all servers off."""
        return not self._folder.settings.mcp.enabled

    def listed(self) -> "list[ListedServer]":
        """Return all configured servers without starting any."""
        setup = self._folder.setup()
        return [_list_server(Supervisor(server, setup)) for server in self._folder.servers().servers]

    async def tried(self, names: Sequence[str]) -> list[ServerTrial]:
        """Start servers, ask what they offer, and stop them. Raises UsageError if one is unknown."""
        setup = self._folder.setup()
        supervisors = [Supervisor(self._find_server(name), setup) for name in names]
        try:
            return list(await asyncio.gather(*map(try_server, supervisors)))
        finally:
            await asyncio.gather(*(each.close() for each in supervisors))
            await setup.programs.close()

    def usable(self) -> list[str]:
        """Return the names of the servers that can be started."""
        return [each.name for each in self._folder.servers().servers if not each.problem and not each.entry.disabled]

    def add(self, name: str, given: JsonObject, *, project: bool) -> Path:
        """Add a server to the person's file or the project's. Raises UsageError and SettingsError."""
        file = self._folder.workspace / PROJECT_MCP[0] if project else self._folder.home.mcp
        try:
            mcp_files.check_name(name)
        except ValueError as error:
            raise UsageError(f"{name!r} is not a valid server name: {error}.", "Choose another name.") from error
        if any(one.name == name for one in self._in(file)):
            raise UsageError(f"{file} already has a server {name}.", f"Remove it first: halo mcp remove {name}")
        mcp_files.check_server(given)
        mcp_files.write_server(file, name, given)
        return file

    def barred(self, name: str, given: JsonObject) -> str:
        """Return why the administrator's configuration would bar this server; empty if not. Raises UsageError."""
        managed = self._folder.managed
        why = mcp_files.why_barred(managed, name, given)
        return f"The server {name} will not run: {why} (see {managed})." if why else ""

    def elsewhere(self) -> list[OtherServers]:
        """Return servers configured for other agents that are not configured here."""
        known = {server.name for server in self._folder.servers().servers}
        env = self._folder.env
        found = servers_elsewhere(Path(env.get("HOME") or Path.home()), env, self._folder.workspace)
        return [one for one in found if one.name not in known]

    def remove(self, name: str) -> Path:
        """Remove a server from its file. Raises UsageError and SettingsError."""
        server = self._find_server(name)
        self._require_ours(server)
        mcp_files.write_server(server.file, name, None)
        folder = self._folder.home.mcp_bundles / name
        is_bundle = re.fullmatch(BUNDLE_NAME, name) and server.entry.cwd == str(folder)
        if server.owner is ServerOwner.USER and is_bundle:  # its files go with it
            shutil.rmtree(folder, ignore_errors=True)
        return server.file

    def switch(self, name: str, *, on: bool) -> Path:
        """Turn a server on or off in its file. Raises UsageError and SettingsError."""
        server = self._find_server(name)
        self._require_ours(server)
        mcp_files.change_server(server.file, name, {"disabled": not on})
        return server.file

    def place_of(self, name: str) -> Path:
        """Return the folder to unpack a bundle into. Raises UsageError if the name is invalid or taken."""
        _require_name(name)
        folder = self._folder.home.mcp_bundles / name
        if folder.exists() or any(one.name == name for one in self._in(self._folder.home.mcp)):
            raise UsageError(f"There is already a server {name}.", f"Remove it first: halo mcp remove {name}")
        return folder

    def add_bundle(self, name: str, bundle: Bundle, given: JsonObject) -> Path:
        """Unpack a bundle and add its server. Raises UsageError and SettingsError."""
        folder = self.place_of(name)
        mcp_files.check_server(given)
        unpack_bundle(bundle, folder)
        try:
            return self.add(name, given, project=False)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            self.market.download.unlink(missing_ok=True)

    async def signed_in(self, name: str, show: Callable[[str], None], limit: float = SIGN_IN_LIMIT) -> ServerTrial:
        """Sign in to a server; `show` receives the page to open. Raises UsageError."""
        server = self._find_server(name)
        if not server.entry.url:
            raise UsageError(
                f"{name} is a local program and needs no sign-in.", f"Test it instead: halo mcp test {name}"
            )
        oauth = server.entry.oauth
        async with Loopback(oauth.port, "/callback" if oauth.client_id else "") as loopback:
            setup = dataclasses.replace(self._folder.setup(), visitor=CallbackPage(loopback, show))
            patient = replace(server, entry=replace(server.entry, start_timeout=limit))
            each = Supervisor(patient, setup)
            try:
                return await try_server(each)
            finally:
                await each.close()

    def sign_out(self, name: str) -> bool:
        """Delete the tokens for a server. Return False if there were none. Raises UsageError and SecretsError."""
        server = self._find_server(name)
        from halocline.mcp.connection.sign_in import secret_name  # imports the SDK, which is slow

        return SecretStore(self._folder.home.credentials).remove(secret_name(name, server.entry.url))

    def log(self, name: str) -> Path:
        """Return the log file of a server's output. Raises UsageError if it never ran."""
        file = Supervisor(self._find_server(name), self._folder.setup()).log.file
        if not file.exists():
            raise UsageError(f"The server {name} has not run yet.", f"Test it: halo mcp test {name}")
        return file

    def _in(self, file: Path) -> list[Server]:
        try:
            return list(mcp_files.servers_in(file, ServerOwner.USER))
        except mcp_files.Unreadable as error:
            raise SettingsError(str(error), "Correct the file first.") from error

    def _find_server(self, name: str) -> Server:
        servers = self._folder.servers()
        if server := servers.named(name):
            return server
        known = ", ".join(each.name for each in servers.servers)
        hint = f"The servers are: {known}." if known else "Add one: halo mcp add NAME COMMAND …"
        raise UsageError(f"There is no MCP server {name!r}.", hint)

    def _require_ours(self, server: Server) -> None:
        if server.owner is ServerOwner.MANAGED:
            raise UsageError(
                f"The server {server.name} is configured for everyone on this machine, in {server.file}.",
                "Only your administrator can change it.",
            )
        if server.owner is ServerOwner.CLINE:
            raise UsageError(
                f"The server {server.name} is configured in Cline's file {server.file}.",
                "Change it there, or add one with the same name: halo mcp add",
            )
        if server.dialect not in OWN:
            raise UsageError(
                f"The server {server.name} is configured in {server.file}, in the format of another program.",
                "Change it there, or add one with the same name: halo mcp add",
            )


def _require_name(name: str) -> None:
    """Check the name of a bundle, which is also a folder's. Raises UsageError."""
    if not re.fullmatch(BUNDLE_NAME, name):
        raise UsageError(f"{name!r} is not a valid server name.", "Use letters, digits, dots, - and _.")


def describe_server_entry(given: JsonObject) -> str:
    """Describe what a server's entry runs or connects to."""
    if "url" in given:
        headers = (f"{name}: {value}" for name, value in given.get("headers", {}).items())
        return " ".join((f"connect to {given['url']}", *headers))
    env = [f"{name}={value}" for name, value in given.get("env", {}).items()]
    return f"run {shlex.join((given['command'], *given['args']))}" + (f" with {' '.join(env)}" if env else "")


def _list_server(each: Supervisor) -> ListedServer:
    server = each.server
    state = "off" if server.entry.disabled else "problem" if each.error else "on"
    return ListedServer(
        name=server.name,
        state=state,
        owner=server.owner.value,
        file=str(server.file),
        transport=server.transport or "http",
        runs=server.runs,
        variables=tuple(sorted({*server.entry.env, *server.entry.headers})),
        tools=len(each.tools) if each.offer else None,
        tokens=definitions_size(each.tools) if each.offer else None,
        problem=each.error,
    )
