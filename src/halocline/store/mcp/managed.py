"""Which MCP servers an administrator lets run beside their own: the table `halocline` of the managed file.

What must stay true: a file that is there and cannot be read lets nobody else's server run.
"""

import os
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec.structs import replace

from halocline.files.regular import read_regular
from halocline.ports.mcp_servers import Owner, Server
from halocline.protocol import json_input
from halocline.protocol.values import Value

LARGEST = 1_000_000


class Bounds(Value, frozen=True, rename="camel", forbid_unknown_fields=True):
    """`only_managed`: no others; `block_remote`: none that are reached by a URL; `allow`: patterns of their names."""

    only_managed: bool = False
    block_remote: bool = False
    allow: tuple[str, ...] | None = None

    def judged(self, server: Server) -> Server:
        """The server, with what is wrong with it here."""
        if server.owner is Owner.MANAGED or server.problem or not (why := self._why(server)):
            return server
        return replace(server, problem=why)

    def _why(self, server: Server) -> str:
        if self.only_managed:
            return "the administrator of this machine lets only their own servers run"
        if self.block_remote and server.entry.url:
            return "the administrator of this machine lets no server run that is reached by a URL"
        if self.allow is not None and not any(fnmatchcase(server.name, pattern) for pattern in self.allow):
            return "it is not among the servers that the administrator of this machine allows"
        return ""


class _File(Value, frozen=True):
    halocline: Bounds = Bounds()


def bounds_in(file: Path) -> Bounds:
    """What the managed file says of others; nothing when there is none."""
    if not os.path.exists(file):
        return Bounds()
    try:
        return json_input.decode(read_regular(file, LARGEST), type=_File).halocline
    except (OSError, msgspec.DecodeError):
        return Bounds(only_managed=True)
