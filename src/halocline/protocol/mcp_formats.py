"""MCP servers as other programs write them, in the terms of our own `mcpServers`. Pure.

What must stay true: what another program may do unasked is not taken over, and a value that only that program can fill
in is named, never guessed.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from halocline.protocol.config_locations import Dialect
from halocline.protocol.values import JsonObject

KEY = "mcpServers"
KEYS: Mapping[Dialect, str] = {"vscode": "servers", "opencode": "mcp", "zed": "context_servers", "goose": "extensions"}
"""Name of the table of servers, if it is not `mcpServers`."""
SHARED: frozenset[Dialect] = frozenset({"opencode", "zed", "gemini", "goose"})
"""Formats of files that hold much else besides servers."""
_KEPT = ("type", "command", "args", "cwd", "env", "url", "headers", "disabled", "timeout")
_LIMITS = {
    "includeTools": "enabledTools",
    "enabledTools": "enabledTools",
    "excludeTools": "disabledTools",
    "disabledTools": "disabledTools",
}
_NAME = re.compile(r"\W+")
_DOLLAR = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_BRACES = re.compile(r"\{env:([A-Za-z_]\w*)\}")
_OURS = re.compile(r"\$\{(?P<name>[^}:]+)(?::(?P<rest>[^}]*))?\}")
NOT_A_TABLE = "{key} is not an object"


def read_tables(dialect: Dialect, whole: JsonObject, folders: Mapping[str, str]) -> dict[str, Any]:
    """Return the raw entries by name. `folders` are the values of `${workspaceFolder}` and its like;
    without any, the entries stay as they are.

    Raises ValueError if the table of servers is not one.
    """
    key = KEYS.get(dialect, KEY)
    tables = whole.get(key, {})
    if not isinstance(tables, dict):
        raise ValueError(NOT_A_TABLE.format(key=key))
    if not folders:
        return tables
    defaults = _defaults_of_inputs(whole) if dialect == "vscode" else {}
    fill: Callable[[str], str] = _FILLERS.get(dialect, str)

    def finish(text: str) -> str:
        return _OURS.sub(lambda found: _name_variable(found, folders, defaults), fill(text))

    if dialect == "plain":
        return {name: _each_text(given, finish) for name, given in tables.items()}
    found = {str(name): _TABLES.get(dialect, _common)(given) for name, given in tables.items() if _is_server(given)}
    return {name: _each_text(given, finish) for name, given in found.items()}


def variable_for_input(name: str) -> str:
    """Return the environment variable that answers `${input:name}`."""
    return _NAME.sub("_", name).upper()


def _is_server(given: Any) -> bool:
    """False for what is no server: parts of the program itself, and of its extensions."""
    return not isinstance(given, dict) or any(key in given for key in ("command", "cmd", "url", "uri", "httpUrl"))


def _common(given: Any) -> Any:
    """The shape that most programs share."""
    if not isinstance(given, dict):
        return given
    names = {"httpUrl": "url", "serverUrl": "url", "transportType": "type"}
    made = {names.get(key, key): value for key, value in given.items() if names.get(key, key) in _KEPT}
    if given.get("httpUrl"):
        made["type"] = "http"
    return made | dict(_limits(given))


def _limits(given: JsonObject) -> Iterator[tuple[str, Any]]:
    """Yield which tools a server has, in our keys."""
    for name, ours in _LIMITS.items():
        if isinstance(given.get(name), list):
            yield ours, given[name]


def _gemini(given: Any) -> Any:
    return _seconds(_common(given))


def _opencode(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    command = given.get("command")
    words = command if isinstance(command, list) else [command] if command else []
    made: JsonObject = {"command": words[0], "args": words[1:]} if words else {"url": given.get("url", "")}
    made |= {"env": given["environment"]} if given.get("environment") else {}
    made |= {key: given[key] for key in ("headers", "cwd", "timeout") if key in given}
    return _seconds(made) | ({"disabled": True} if given.get("enabled") is False else {})


def _zed(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    command = given.get("command")
    whole = {**given, "command": command.get("path", ""), **command} if isinstance(command, dict) else given
    made = {key: whole[key] for key in ("args", "env", "url", "headers") if whole.get(key)}
    if program := whole.get("path") if isinstance(command, dict) else command:
        made["command"] = program
    return made | ({"disabled": True} if given.get("enabled") is False else {})


def _goose(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    made: JsonObject = {"command": given["cmd"], "args": given.get("args") or []} if given.get("cmd") else {}
    made |= {"url": given.get("uri") or given.get("url")} if not made else {}
    keys = given.get("env_keys") if isinstance(given.get("env_keys"), list) else []
    env = {**{str(key): f"${{{key}}}" for key in keys or ()}, **(given.get("envs") or {})}
    made |= {"env": env} if env else {}
    made |= {key: given[key] for key in ("headers", "timeout") if given.get(key)}
    return made | ({"disabled": True} if given.get("enabled") is False else {})


def _seconds(given: Any) -> Any:
    """Turn a timeout in milliseconds into seconds."""
    if isinstance(given, dict) and isinstance(given.get("timeout"), int | float):
        return {**given, "timeout": max(1.0, given["timeout"] / 1000)}
    return given


def _defaults_of_inputs(whole: JsonObject) -> dict[str, str]:
    inputs = whole.get("inputs")
    rows = (row for row in inputs if isinstance(row, dict)) if isinstance(inputs, list) else ()
    return {str(row.get("id")): str(row["default"]) for row in rows if row.get("default") is not None}


def _name_variable(found: "re.Match[str]", folders: Mapping[str, str], defaults: Mapping[str, str]) -> str:
    name, rest = found["name"], found["rest"]
    if name in folders and rest is None:
        return folders[name]
    if name != "input" or not rest:
        return found[0]
    default = defaults.get(rest, "")
    return f"${{{variable_for_input(rest)}{f':-{default}' if default and '}' not in default else ''}}}"


def _each_text(given: Any, change: Callable[[str], str]) -> Any:
    match given:
        case str():
            return change(given)
        case list():
            return [_each_text(one, change) for one in given]
        case dict():
            return {key: _each_text(one, change) for key, one in given.items()}
    return given


_FILLERS: Mapping[Dialect, Callable[[str], str]] = {
    "opencode": lambda text: _BRACES.sub(r"${\1}", text),
    "gemini": lambda text: _DOLLAR.sub(lambda found: f"${{{found[1] or found[2]}}}", text),
}
"""Our form of each program's variables."""
_TABLES: Mapping[Dialect, Callable[[Any], Any]] = {
    "gemini": _gemini,
    "opencode": _opencode,
    "zed": _zed,
    "goose": _goose,
}
