"""MCP servers configured for other agents, in our format, to be copied if the user agrees.

What must stay true: values of variables and headers, which may be keys, are never copied, nor are permissions of
tools. Variables are named, for the user to set; keys in a command line are redacted.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from halocline.files.regular import read_regular
from halocline.importers import json_stream
from halocline.importers.cline.tasks import list_roots
from halocline.importers.transcript import as_table, as_text
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.values import JsonObject, Value

LARGEST = 32_000_000
"""Maximum bytes of a settings file; Claude Code stores much else in its own."""
KEY = "mcpServers"


class OtherServers(Value, frozen=True):
    """A server of another agent. `variables` and `headers` are named in `given`, or were left out."""

    name: str
    file: str
    given: JsonObject
    variables: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()


def servers_elsewhere(home: Path, env: Mapping[str, str], workspace: Path) -> Iterator[OtherServers]:
    """Yield all servers; of several with one name, the first."""
    seen: set[str] = set()
    for file, name, given in _list_tables(home, env, workspace):
        if name not in seen and (found := _read_server(file, name, given)):
            seen.add(name)
            yield found


def _list_tables(home: Path, env: Mapping[str, str], workspace: Path) -> Iterator[tuple[Path, str, JsonObject]]:
    claude = home / ".claude.json"
    settings = as_table(json_stream.read_whole(claude, LARGEST))
    here = as_table(as_table(settings.get("projects")).get(str(workspace)))
    codex = Path(env.get("CODEX_HOME") or home / ".codex") / "config.toml"
    places = [(claude, here.get(KEY)), (claude, settings.get(KEY)), (codex, _read_toml(codex).get("mcp_servers"))]
    for root in list_roots(home, env):
        file = root / "settings" / "cline_mcp_settings.json"
        places.append((file, as_table(json_stream.read_whole(file)).get(KEY)))
    for file, servers in places:
        yield from ((file, name, as_table(given)) for name, given in as_table(servers).items())


def _read_toml(file: Path) -> JsonObject:
    try:
        return tomllib.loads(read_regular(file, LARGEST).decode())
    except (OSError, ValueError, RecursionError):
        return {}


def _read_server(file: Path, name: str, given: JsonObject) -> OtherServers | None:
    variables = tuple(as_table(given.get("env")))
    if command := as_text(given.get("command")):
        args = [redact_text(str(part)) for part in given.get("args") or () if isinstance(part, str | int)]
        made: JsonObject = {"command": command, "args": args}
        made |= {"env": {name: f"${{{name}}}" for name in variables}} if variables else {}
        made |= {"cwd": cwd} if (cwd := as_text(given.get("cwd"))) else {}
        return OtherServers(name, str(file), made, variables)
    if not (url := redact_text(as_text(given.get("url")))).startswith(("http://", "https://")):
        return None
    kind = as_text(given.get("type")) or as_text(given.get("transportType"))
    headers = tuple(as_table(given.get("headers")) or as_table(given.get("http_headers")))
    token = as_text(given.get("bearer_token_env_var"))
    made = {"type": "sse" if kind == "sse" else "streamableHttp", "url": url}
    made |= {"headers": {"Authorization": f"Bearer ${{{token}}}"}} if token else {}
    return OtherServers(name, str(file), made, (token,) if token else (), headers)
