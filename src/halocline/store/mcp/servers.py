"""Which MCP servers are set up: in the person's file, the project's and Cline's, all in the `mcpServers` form.

What must stay true: a server that is written wrongly is in the list with what is wrong, and the others work. A file
that cannot be read leaves the servers as they were. Keys stand in `Secret`s; `${VAR}` is filled in at a start.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from halocline.files.regular import read_regular
from halocline.ports.mcp_servers import HTTP, SSE, STDIO, TYPES, Entry, Owner, Server, Servers
from halocline.protocol import json_input
from halocline.protocol.config_locations import PROJECT_MCP
from halocline.protocol.errors import SettingsError, UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import JsonObject, Value
from halocline.store.atomic_file import write_whole
from halocline.store.mcp.managed import bounds_in
from halocline.store.paths import MANAGED_MCP, OTHERS_MCP

LARGEST = 1_000_000
LONGEST_NAME = 100
KEY = "mcpServers"
_OTHER_NAMES = {"transportType": "type", "httpUrl": "url", "serverUrl": "url", "alwaysAllow": "autoApprove"}


class Unreadable(Exception):
    """A file of servers that is none; the text says which, and why."""


class McpPlaces(Value, frozen=True):
    """Where to look. `home` is the person's home folder; None reads nothing of Cline's."""

    own: Path
    workspace: Path
    home: Path | None = None
    managed: Path = MANAGED_MCP

    def files(self) -> Iterator[tuple[Path, Owner]]:
        """Every place, the one that wins first: nobody else's file changes what a person set up, but root's."""
        yield self.managed, Owner.MANAGED
        yield self.own, Owner.USER
        mine = os.path.realpath(self.own)
        for name in PROJECT_MCP:
            if os.path.realpath(self.workspace / name) != mine:
                yield self.workspace / name, Owner.PROJECT
        if self.home:
            for name in OTHERS_MCP:
                yield self.home / name, Owner.CLINE


def read_servers(places: McpPlaces, before: Servers | None = None) -> Servers:
    """All servers. Of a file that cannot be read those hold that were there `before`."""
    found: dict[str, Server] = {}
    problems: list[str] = []
    for file, owner in places.files():
        try:
            servers = list(servers_in(file, owner))
        except Unreadable as error:
            problems.append(str(error))
            servers = [server for server in before.servers if server.file == file] if before else []
        for server in servers:
            found.setdefault(server.name, server)
    bounds = bounds_in(places.managed)
    return Servers(tuple(bounds.judged(server) for server in found.values()), tuple(problems))


def servers_in(file: Path, owner: Owner) -> Iterator[Server]:
    """The servers of one file; none when there is no file. Raises Unreadable."""
    for name, given in _server_tables(file).items():
        try:
            _check_name(name)
            yield Server(name, file, owner, _decode_entry(given))
        except (msgspec.ValidationError, ValueError) as error:
            yield Server(name, file, owner, problem=f"{KEY}.{name} of {file} is wrong: {error}")


def read_raw(file: Path) -> JsonObject:
    """The whole file as it is, every unknown key in it; empty when there is none. Raises Unreadable."""
    try:
        data = read_regular(file, LARGEST)
        given = json_input.decode(data.removeprefix(b"\xef\xbb\xbf")) if data.strip() else {}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, msgspec.DecodeError) as error:
        raise Unreadable(f"{file} cannot be read: {error}.") from error
    if not isinstance(given, dict):
        raise Unreadable(f"{file} is not a JSON object.")
    return given


def check_server(given: JsonObject) -> None:
    """Whether a server can be written so. Raises UsageError."""
    try:
        _decode_entry(given)
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"The server cannot be set up so: {error}.", "See: halo mcp add --help") from error


def why_barred(managed: Path, name: str, given: JsonObject) -> str:
    """Why the administrator's file would not let a server run; empty where it would. Raises UsageError."""
    check_server(given)
    return bounds_in(managed).judged(Server(name, managed, Owner.USER, _decode_entry(given))).problem


def change_server(file: Path, name: str, fields: JsonObject) -> None:
    """Change some fields of a server. Raises SettingsError."""
    try:
        write_server(file, name, {**_server_tables(file).get(name, {}), **fields})
    except Unreadable as error:
        raise SettingsError(str(error), "Correct it first; nothing was changed.") from error


def write_server(file: Path, name: str, given: JsonObject | None) -> None:
    """Put a server into a file, or take it out (None); all else stays as it is. Raises SettingsError."""
    try:
        whole = read_raw(file)
        servers = {**_server_tables(file)}
        if given is None:
            servers.pop(name, None)
        else:
            servers[name] = given
        text = msgspec.json.format(msgspec.json.encode({**whole, KEY: servers}), indent=2) + b"\n"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(Path(os.path.realpath(file)), text, _mode_of(file))
    except Unreadable as error:
        raise SettingsError(str(error), "Correct it first; nothing was changed.") from error
    except OSError as error:
        raise SettingsError(f"Cannot write {file}: {error.strerror or error}.", "Nothing was changed.") from error


def _mode_of(file: Path) -> int:
    """Keys may stand in it: it is its owner's alone, unless somebody made it otherwise."""
    return file.stat().st_mode & 0o777 if file.exists() else 0o600


def _server_tables(file: Path) -> dict[str, JsonObject]:
    tables = read_raw(file).get(KEY, {})
    if not isinstance(tables, dict):
        raise Unreadable(f"{file} is wrong: {KEY} is not an object.")
    return tables


def _check_name(name: str) -> None:
    """A name stands in menus, rules and what models read. Raises ValueError."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or "/" in name:
        raise ValueError(f"a name has up to {LONGEST_NAME} visible signs and no slash")


def _decode_entry(given: Any) -> Entry:
    """Raises ValidationError and ValueError."""
    if not isinstance(given, dict):
        raise ValueError("it is not an object")
    if b"\\u0000" in msgspec.json.encode(given):
        raise ValueError("there is a NUL in it")
    meant = {_OTHER_NAMES.get(key, key): value for key, value in given.items()}
    entry = msgspec.convert(meant, Entry, strict=False, dec_hook=_read_secret)
    if entry.type.lower() not in TYPES:
        raise ValueError(f"there is no type {entry.type!r}; the types are stdio, sse and streamableHttp")
    if not entry.command and not entry.url:
        raise ValueError("it has neither a command nor a url")
    if entry.url and not entry.url.startswith(("http://", "https://", "${")):
        raise ValueError("its url is not http or https")
    if (TYPES[entry.type.lower()] in (SSE, HTTP)) and not entry.url:
        raise ValueError(f"it is of type {entry.type} and has no url")
    if TYPES[entry.type.lower()] == STDIO and not entry.command:
        raise ValueError("it is of type stdio and has no command")
    return entry


def _read_secret(wanted: type, value: Any) -> Any:
    if wanted is Secret and isinstance(value, str | int | float | bool):
        return Secret(str(value) if not isinstance(value, bool) else str(value).lower())
    raise ValueError(f"expected a text, got {type(value).__name__}")
