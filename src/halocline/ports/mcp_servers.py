"""MCP servers as configured in files: their command or URL, and the person's settings for them.

Keys are `Secret`s; `${VAR}` is not yet expanded.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

from halocline.protocol.config_locations import Dialect
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value

STDIO, SSE, HTTP = "stdio", "sse", "http"
TYPES = {
    "": "",
    "stdio": STDIO,
    "sse": SSE,
    "http": HTTP,
    "streamablehttp": HTTP,
    "streamable-http": HTTP,
    "streamable_http": HTTP,
}
"""Accepted names of transports, in lowercase. Without one, a URL is tried as HTTP and then as SSE."""


class ServerOwner(StrEnum):
    """Owner of the file that defines a server; `EDITOR` is the program that a person works in, which needs no file."""

    MANAGED = "managed"
    USER = "user"
    PROJECT = "project"
    CLINE = "cline"
    EDITOR = "editor"
    PLUGIN = "plugin"


class OAuth(Value, frozen=True, rename="camel"):
    """OAuth settings for a server with preregistered clients."""

    client_id: str = ""
    client_secret: Secret | None = None
    scopes: tuple[str, ...] = ()
    port: int = 0


class ServerEntry(Value, frozen=True, rename="camel"):
    """A server's entry in a file. Unknown keys are ignored. Times are in seconds."""

    type: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    env: dict[str, Secret] = {}
    url: str = ""
    headers: dict[str, Secret] = {}
    oauth: OAuth = OAuth()
    auto_approve: tuple[str, ...] = ()
    auto_approve_read_only: bool = False
    disabled_tools: tuple[str, ...] = ()
    enabled_tools: tuple[str, ...] | None = None
    disabled: bool = False
    timeout: Annotated[float, msgspec.Meta(ge=1, le=86_400)] = 60.0
    start_timeout: Annotated[float, msgspec.Meta(ge=1, le=3_600)] = 60.0
    watch: tuple[str, ...] = ()
    mode: str = "auto"


class Server(Value, frozen=True):
    """One server: its name, file, owner and entry, and any `problem` with it.

    `untrusted` servers are mentioned by the surface when it asks whether to trust the folder. `dialect` is the format
    of the file; only our own is written.
    """

    name: str
    file: Path
    owner: ServerOwner
    entry: ServerEntry = ServerEntry()
    problem: str = ""
    untrusted: bool = False
    dialect: Dialect = "plain"

    @property
    def transport(self) -> str:
        """stdio, sse or http; empty for a URL without a declared type."""
        return TYPES.get(self.entry.type.lower(), "") or ("" if self.entry.url else STDIO)

    @property
    def runs(self) -> str:
        """The command line or URL, as written: without values of variables and without keys."""
        from shlex import join

        entry = self.entry
        return entry.url if self.transport != STDIO else join((entry.command, *entry.args))

    @property
    def essence(self) -> ServerEntry:
        """The parts that a running server depends on: it keeps running when the rest changes."""
        defaults = ServerEntry()
        apart = ("auto_approve", "auto_approve_read_only", "timeout", "disabled_tools", "enabled_tools")
        return replace(self.entry, **{name: getattr(defaults, name) for name in apart})


class Servers(Value, frozen=True):
    """All configured servers, by name, and problems of files that cannot be read."""

    servers: tuple[Server, ...] = ()
    problems: tuple[str, ...] = ()

    def named(self, name: str) -> Server | None:
        return next((server for server in self.servers if server.name == name), None)
