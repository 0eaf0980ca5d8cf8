"""MCP servers that an editor brings to a session."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from acp import schema

from halocline.client import Server, ServerEntry, ServerOwner
from halocline.protocol.secrets.secret import Secret

McpServer = schema.HttpMcpServer | schema.SseMcpServer | schema.AcpMcpServer | schema.McpServerStdio
_NOT_IN_NAMES = re.compile(r"[^\w.@-]+")
_LONGEST_NAME = 60


def read_servers(given: Iterable[McpServer]) -> Iterator[Server]:
    """Yield the servers with names that tools can bear; those over the editor's own connection are not supported."""
    for one in given:
        match one:
            case schema.McpServerStdio(command=command, args=args, env=env):
                entry = ServerEntry(
                    command=command, args=tuple(args), env={each.name: Secret(each.value) for each in env}
                )
            case schema.HttpMcpServer() | schema.SseMcpServer():
                entry = ServerEntry(
                    type=one.type, url=one.url, headers={each.name: Secret(each.value) for each in one.headers}
                )
            case _:
                continue
        name = _NOT_IN_NAMES.sub("-", one.name)[:_LONGEST_NAME].strip("-") or "server"
        yield Server(name, Path("editor"), ServerOwner.EDITOR, entry)
