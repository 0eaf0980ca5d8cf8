"""MCP servers that an editor brings to a session."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from acp import schema
from pydantic import TypeAdapter, ValidationError

from halocline.client.mcp import Server, ServerEntry, ServerOwner, check_name as check_server_name
from halocline.protocol.secrets.secret import Secret
from halocline.surfaces.acp.failures import refuse_params

McpServer = schema.HttpMcpServer | schema.SseMcpServer | schema.AcpMcpServer | schema.McpServerStdio
_KINDS: dict[object, type[McpServer]] = {
    "http": schema.HttpMcpServer,
    "sse": schema.SseMcpServer,
    "acp": schema.AcpMcpServer,
}


def read_servers(given: Iterable[McpServer]) -> tuple[Server, ...]:
    """Return the servers under their names. Raises RequestError, also for one over the editor's own connection."""
    found: dict[str, Server] = {}
    for one in given:
        try:
            check_server_name(one.name)
        except ValueError as error:
            raise refuse_params(f"The MCP server {one.name!r} cannot be used: {error}.") from error
        if one.name in found:
            raise refuse_params(f"Two MCP servers are named {one.name!r}. Give each a name of its own.")
        found[one.name] = Server(one.name, Path("editor"), ServerOwner.EDITOR, _read_entry(one))
    return tuple(found.values())


def _read_entry(one: McpServer) -> ServerEntry:
    match one:
        case schema.McpServerStdio(command=command, args=args, env=env):
            return ServerEntry(command=command, args=tuple(args), env={each.name: Secret(each.value) for each in env})
        case schema.HttpMcpServer() | schema.SseMcpServer():
            return ServerEntry(
                type=one.type, url=one.url, headers={each.name: Secret(each.value) for each in one.headers}
            )
    raise refuse_params(f"The MCP server {one.name!r} cannot be used: servers of the type 'acp' are not supported.")


def find_left_out(params: Any) -> str:
    """Say what the SDK would leave out of a request's lists without a word, because it is invalid; usually nothing."""
    if not isinstance(params, dict):
        return ""
    for name in ("mcpServers", "additionalDirectories"):
        given = params.get(name)
        for at, item in enumerate(given if isinstance(given, list) else ()):
            kind = str if name == "additionalDirectories" else _find_kind(item)
            try:
                TypeAdapter(kind).validate_python(item)
            except ValidationError as error:
                return f"{name}[{at}] is invalid: {_describe_faults(error)}"
    return ""


def _find_kind(item: Any) -> type[McpServer]:
    """Return the kind of server that an item must be: one without a known type is a program."""
    kind = item.get("type") if isinstance(item, dict) else None
    return _KINDS.get(kind, schema.McpServerStdio) if isinstance(kind, str) else schema.McpServerStdio


def _describe_faults(error: ValidationError) -> str:
    """Return the faults, without the values: they may be keys."""
    return "; ".join(
        f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}".removeprefix(": ")
        for fault in error.errors(include_url=False, include_input=False)
    )
