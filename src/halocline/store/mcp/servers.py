"""Configured MCP servers: from the user's file, the project's and Cline's; a project's in each program's own format.

What must stay true: an invalid server is in the list with its problem, and the others work. If a file cannot be read,
its servers stay as they were. Keys are `Secret`s; `${VAR}` is expanded when a server starts.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.files.durable import write_whole
from halocline.files.regular import read_regular
from halocline.files.root_owned import Unusable, find_managed_file
from halocline.ports.mcp_servers import HTTP, SSE, STDIO, TYPES, Server, ServerEntry, ServerOwner, Servers
from halocline.protocol import json_input
from halocline.protocol.config_locations import SERVER_ROWS, Dialect
from halocline.protocol.errors import SettingsError, UsageError
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.mcp_entries import NAMES, convert_entry
from halocline.protocol.mcp_formats import KEY, read_tables
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import JsonObject, Value
from halocline.store.mcp.managed import bounds_in
from halocline.store.paths import MANAGED

LARGEST = 1_000_000
LONGEST_NAME = 100
_OTHER_NAMES = {name: ours for name, ours in NAMES.items() if not name.endswith("_ms")} | {"alwaysAllow": "autoApprove"}


FORMAT = 'Give a file or JSON text: {"mcpServers": {"NAME": {"command": "…", "args": ["…"]}}}'


class Unreadable(Exception):
    """A file that cannot be read as a list of servers; the text says which and why."""


class McpPlaces(Value, frozen=True):
    """Locations to read. `home` is the user's home folder; None skips Cline's files.

    `roots` are a task's other folders, `plugins` its plug-ins.
    """

    own: Path
    workspace: Path
    home: Path | None = None
    managed: Path = MANAGED / "mcp.json"
    roots: tuple[Path, ...] = ()
    plugins: tuple[Plugin, ...] = ()

    def files(self) -> Iterator[tuple[Path, ServerOwner, Dialect, Path]]:
        """Yield all files, each with the folder of its servers.

        The first that defines a server counts: only the administrator's overrides the user's.
        """
        yield self.managed, ServerOwner.MANAGED, "plain", self.workspace
        yield self.own, ServerOwner.USER, "plain", self.workspace
        mine = os.path.realpath(self.own)
        for row in SERVER_ROWS:
            if not row.root and os.path.realpath(self.workspace / row.path) != mine:
                yield self.workspace / row.path, ServerOwner.PROJECT, row.dialect, self.workspace
            elif row.root == "~" and self.home and not row.imported:
                yield self.home / row.path, ServerOwner.CLINE, row.dialect, self.workspace
        for root in self.roots:
            project = (row for row in SERVER_ROWS if not row.root)
            yield from ((root / row.path, ServerOwner.PROJECT, row.dialect, root) for row in project)


def read_servers(places: McpPlaces, before: Servers | None = None, given: Iterable[Server] = ()) -> Servers:
    """Read all servers; those `given` without a file come after them. Keep from `before` those of unreadable files."""
    found: dict[str, Server] = {}
    problems: list[str] = []
    for file, owner, dialect, folder in places.files():
        try:
            if owner is ServerOwner.MANAGED:
                _require_managed(file)
            servers = list(servers_in(file, owner, dialect, folder))
            servers = servers if folder == places.workspace else [_run_in(folder, server) for server in servers]
        except Unreadable as error:
            problems.append(str(error))
            servers = [server for server in before.servers if server.file == file] if before else []
        for server in servers:
            found.setdefault(server.name, server)
    for plugin in places.plugins:
        try:
            for server in servers_of_plugin(plugin, places.workspace):
                found.setdefault(server.name, server)
        except Unreadable as error:
            problems.append(f"The plug-in {plugin.name}: {error}")
    for server in given:
        found.setdefault(server.name, server)
    bounds = bounds_in(places.managed)
    return Servers(tuple(bounds.judged(server) for server in found.values()), tuple(problems))


def _require_managed(file: Path) -> None:
    try:
        find_managed_file(file)
    except Unusable as error:
        raise Unreadable(str(error)) from error


def _run_in(folder: Path, server: Server) -> Server:
    """Return a server of another folder than the task's first one: relative paths of its entry are of that folder."""
    entry = server.entry
    cwd = entry.cwd if entry.cwd.startswith(("~", "$")) else str(folder / entry.cwd)
    return replace(server, entry=replace(entry, cwd=cwd, watch=tuple(str(folder / name) for name in entry.watch)))


def servers_in(
    file: Path, owner: ServerOwner, dialect: Dialect = "plain", workspace: Path | None = None
) -> Iterator[Server]:
    """Yield the servers of one file; none if it does not exist. Raises Unreadable."""
    for name, given in read_entries(file, dialect, workspace).items():
        yield _read_server(name, given, file, owner, dialect)


def servers_of_plugin(plugin: Plugin, workspace: Path) -> Iterator[Server]:
    """Yield the servers of a plug-in. What they may do unasked is the person's choice alone. Raises Unreadable."""
    for file in map(Path, plugin.paths("server")):
        for name, given in read_entries(file, "claude", workspace, plugin.folder).items():
            if plugin.has("server", name):
                server = _read_server(plugin.named(name), given, file, ServerOwner.PLUGIN, "claude")
                entry = replace(server.entry, auto_approve=(), auto_approve_read_only=False)
                yield replace(server, entry=entry)


def _read_server(name: str, given: Any, file: Path, owner: ServerOwner, dialect: Dialect) -> Server:
    """Return the server of an entry; one that is invalid has a problem."""
    try:
        check_name(name)
        return Server(name, file, owner, _decode_entry(given), dialect=dialect)
    except (msgspec.ValidationError, ValueError) as error:
        why = f"the server {name} in {file} is invalid: {error}"
        return Server(name, file, owner, problem=why, dialect=dialect)


def read_entries(
    file: Path, dialect: Dialect = "plain", workspace: Path | None = None, plugin: str = ""
) -> dict[str, Any]:
    """Return the entries of a file by name, in our own format; of a `plugin`'s, by its folder. Raises Unreadable."""
    folder, home = str(workspace or ""), str(Path.home())
    folders = {"workspaceFolder": folder, "workspaceRoot": folder, "userHome": home, "pathSeparator": "/", "/": "/"}
    folders["workspaceFolderBasename"] = os.path.basename(folder)
    whole = read_raw(file, has_comments=dialect != "plain")
    if plugin:
        folders["CLAUDE_PLUGIN_ROOT"] = plugin
        whole = whole if KEY in whole else {KEY: whole}  # in a plug-in, the table may be the whole file
    try:
        return read_tables(dialect, whole, folders)
    except ValueError as error:
        raise Unreadable(f"{file} is invalid: {error}.") from error


def read_given_servers(text: str) -> tuple[Server, ...]:
    """Read servers that a person names on the command line, in Claude Code's format or ours: a file, or its JSON.

    Raises UsageError.
    """
    place = Path("--mcp-config")
    try:
        tables = _tables_in(_read_given(text, place), place)
        entries = {name: convert_entry("claude", entry) for name, entry in tables.items()}
        for name, entry in entries.items():
            check_name(name)
            check_server(entry)
    except (Unreadable, ValueError) as error:
        raise UsageError(str(error), FORMAT) from error
    if not entries:
        raise UsageError(f"--mcp-config names no MCP server: {text[:80]}", FORMAT)
    return tuple(Server(name, place, ServerOwner.EDITOR, _decode_entry(entry)) for name, entry in entries.items())


def _read_given(text: str, place: Path) -> JsonObject:
    if text.lstrip().startswith("{"):
        return _decode_object(text.encode(), place, json_input.decode_config)
    file = Path(text).expanduser()
    if not file.exists():
        raise UsageError(f"--mcp-config: there is no file {text[:200]}", FORMAT)
    return read_raw(file, has_comments=True)


def read_raw(file: Path, *, has_comments: bool = False) -> JsonObject:
    """Read the whole file, including unknown keys; empty if it does not exist. Raises Unreadable."""
    try:
        data = read_regular(file, LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise Unreadable(f"Cannot read {file}: {error}.") from error
    return _decode_object(data, file, json_input.decode_config if has_comments else _decode_own) if data.strip() else {}


def _decode_own(data: bytes) -> Any:
    return json_input.decode(data.removeprefix(b"\xef\xbb\xbf"))


def _decode_object(data: bytes, file: Path, decode: Callable[[bytes], Any] = _decode_own) -> JsonObject:
    try:
        given = decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = "the JSON ends too early, perhaps a bracket is missing" if "truncated" in str(error) else error
        raise Unreadable(f"Cannot read {file}: {why}.") from error
    if not isinstance(given, dict):
        raise Unreadable(f"{file} is not a JSON object.")
    return given


def check_server(given: JsonObject) -> None:
    """Check that a server's entry is valid. Raises UsageError."""
    try:
        _decode_entry(given)
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"Invalid server: {error}.", "See: halo mcp add --help") from error


def why_barred(managed: Path, name: str, given: JsonObject) -> str:
    """Say why the administrator does not allow a server; empty if they do. Raises UsageError."""
    check_server(given)
    return bounds_in(managed).judged(Server(name, managed, ServerOwner.USER, _decode_entry(given))).problem


def change_server(file: Path, name: str, fields: JsonObject) -> None:
    """Change some fields of a server. Raises SettingsError."""
    try:
        write_server(file, name, {**_server_tables(file).get(name, {}), **fields})
    except Unreadable as error:
        raise SettingsError(str(error), "Nothing was changed. Fix the file first.") from error


def write_server(file: Path, name: str, given: JsonObject | None) -> None:
    """Write a server to a file, or remove it (None); everything else stays. Raises SettingsError."""
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
        raise SettingsError(str(error), "Nothing was changed. Fix the file first.") from error
    except OSError as error:
        raise SettingsError(f"Cannot write {file}: {error.strerror or error}.", "Nothing was changed.") from error


def _mode_of(file: Path) -> int:
    """Return the file's mode; a new file is private, because it may contain keys."""
    return file.stat().st_mode & 0o777 if file.exists() else 0o600


def _server_tables(file: Path) -> dict[str, JsonObject]:
    return _tables_in(read_raw(file), file)


def _tables_in(whole: JsonObject, file: Path) -> dict[str, JsonObject]:
    try:
        return read_tables("plain", whole, {})
    except ValueError as error:
        raise Unreadable(f"{file} is invalid: {error}.") from error


def check_name(name: str) -> None:
    """Check a name, which appears in menus, rules and text for models. Raises ValueError."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or not name.strip() or not all(name.split("/")):
        raise ValueError(f"a name must have 1 to {LONGEST_NAME} printable characters, and something beside each slash")


def _decode_entry(given: Any) -> ServerEntry:
    """Convert a raw entry. Raises ValidationError and ValueError."""
    if not isinstance(given, dict):
        raise ValueError("not an object")
    if b"\\u0000" in msgspec.json.encode(given):
        raise ValueError("it contains a NUL character")
    meant = {_OTHER_NAMES.get(key, key): value for key, value in given.items()}
    entry = msgspec.convert(meant, ServerEntry, strict=False, dec_hook=_read_secret)
    if entry.type.lower() not in TYPES:
        raise ValueError(f"unknown type {entry.type!r}; use stdio, sse or streamableHttp")
    if not entry.command and not entry.url:
        raise ValueError("it needs a command or a url")
    if entry.url and not entry.url.startswith(("http://", "https://", "${")):
        raise ValueError("its url must start with http:// or https://")
    if (TYPES[entry.type.lower()] in (SSE, HTTP)) and not entry.url:
        raise ValueError(f"type {entry.type} needs a url")
    if TYPES[entry.type.lower()] == STDIO and not entry.command:
        raise ValueError("type stdio needs a command")
    return entry


def _read_secret(wanted: type, value: Any) -> Any:
    if wanted is Secret and isinstance(value, str | int | float | bool):
        return Secret(str(value) if not isinstance(value, bool) else str(value).lower())
    raise ValueError(f"expected text, got {type(value).__name__}")
