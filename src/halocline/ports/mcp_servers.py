"""An MCP server as the files say it: what is run or reached, and what a person set beside that.

Keys stand in `Secret`s; `${VAR}` is still as it was written.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec.structs import replace

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
"""What people call the transports, in small letters. Without one, a URL is tried as HTTP and then as SSE."""


class Owner(StrEnum):
    """Whose file names a server."""

    MANAGED = "managed"
    USER = "user"
    PROJECT = "project"
    CLINE = "cline"


class OAuth(Value, frozen=True, rename="camel"):
    """How to sign in at a server that knows its clients already."""

    client_id: str = ""
    client_secret: Secret | None = None
    scopes: tuple[str, ...] = ()
    port: int = 0


class Entry(Value, frozen=True, rename="camel"):
    """One server as it is written. Unknown keys are left alone. Times are in seconds."""

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
    disabled: bool = False
    timeout: Annotated[float, msgspec.Meta(ge=1, le=86_400)] = 60.0
    start_timeout: Annotated[float, msgspec.Meta(ge=1, le=3_600)] = 60.0
    watch: tuple[str, ...] = ()
    mode: str = "auto"


class Server(Value, frozen=True):
    """One server: its name, how it is written, where, and what is wrong with it.

    Of one that is `untrusted` the surface speaks, when it asks about the folder.
    """

    name: str
    file: Path
    owner: Owner
    entry: Entry = Entry()
    problem: str = ""
    untrusted: bool = False

    @property
    def transport(self) -> str:
        """stdio, sse or http; empty for a URL of which it is not said."""
        return TYPES.get(self.entry.type.lower(), "") or ("" if self.entry.url else STDIO)

    @property
    def runs(self) -> str:
        """What is run or reached, as it is written: without values of variables and without keys."""
        from shlex import join

        entry = self.entry
        return entry.url if self.transport != STDIO else join((entry.command, *entry.args))

    @property
    def essence(self) -> Entry:
        """Only what a running server depends on: when the rest changes, it goes on."""
        defaults = Entry()
        apart = ("auto_approve", "auto_approve_read_only", "timeout", "disabled_tools")
        return replace(self.entry, **{name: getattr(defaults, name) for name in apart})


class Servers(Value, frozen=True):
    """All that are set up, by name, and which files cannot be read."""

    servers: tuple[Server, ...] = ()
    problems: tuple[str, ...] = ()

    def named(self, name: str) -> Server | None:
        return next((server for server in self.servers if server.name == name), None)
