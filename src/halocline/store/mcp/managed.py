"""The administrator's limits on other MCP servers: the table `halocline` of the managed file.

What must stay true: if the file exists but cannot be read, or others can write to it, no other servers run.
"""

from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.files.regular import read_regular
from halocline.files.root_owned import find_managed_file
from halocline.ports.mcp_servers import Server, ServerOwner
from halocline.protocol import json_input
from halocline.protocol.values import Value

LARGEST = 1_000_000


class Bounds(Value, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Limits on other servers. `only_managed` blocks all, `block_remote` those with a URL; `allow` has patterns."""

    only_managed: bool = False
    block_remote: bool = False
    allow: tuple[str, ...] | None = None

    def judged(self, server: Server) -> Server:
        """Return the server, with a `problem` if it is blocked."""
        if server.owner is ServerOwner.MANAGED or server.problem or not (why := self._why(server)):
            return server
        return replace(server, problem=why)

    def _why(self, server: Server) -> str:
        if self.only_managed:
            return "the administrator of this machine only allows their own servers"
        if self.block_remote and server.entry.url:
            return "the administrator of this machine does not allow servers with a URL"
        if self.allow is not None and not any(fnmatchcase(server.name, pattern) for pattern in self.allow):
            return "the administrator of this machine does not allow this server"
        return ""


class _File(Value, frozen=True):
    halocline: Bounds = Bounds()


def bounds_in(file: Path) -> Bounds:
    """Read the limits from the managed file; no limits if it does not exist."""
    try:
        if not find_managed_file(file):
            return Bounds()
        return json_input.decode(read_regular(file, LARGEST), type=_File).halocline
    except (OSError, msgspec.DecodeError):
        return Bounds(only_managed=True)
