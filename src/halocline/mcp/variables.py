"""`${VAR}`, `${VAR:-default}` and `${env:VAR}` in an MCP server's settings, filled in when it starts.

What must stay true: a project's file cannot send model keys anywhere, and a missing variable is named.
"""

import re
from collections.abc import Callable, Mapping

from halocline.ports.mcp_servers import OAuth, Server, ServerOwner
from halocline.protocol.child_environment import ChildEnvironment, child_environment, declare_environment
from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
ALWAYS = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "XDG_RUNTIME_DIR")
"""The only variables that a server gets undeclared,"""
WAYS_OUT = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")
"""and these, in upper or lower case: many servers cannot reach the network without them."""


class Filled(Value, frozen=True):
    """A server's settings with all variables filled in."""

    command: str
    args: tuple[str, ...]
    cwd: str
    env: dict[str, Secret]
    url: str
    headers: dict[str, Secret]
    oauth: OAuth


class Missing(Exception):
    """A variable is missing; the text names it and the setting that needs it."""


def fill_variables(server: Server, env: Mapping[str, str], keys: frozenset[str]) -> Filled:
    """Fill in all variables; a project's or plug-in's file may not use `keys`. Raises Missing."""
    hidden = keys if server.owner in (ServerOwner.PROJECT, ServerOwner.PLUGIN) else frozenset()
    entry = server.entry

    def fill(text: str, where: str) -> str:
        return _VARIABLE.sub(
            lambda match: _variable_value(match, env, hidden, f"{where} of the MCP server {server.name}"), text
        )

    return Filled(
        command=fill(entry.command, "command"),
        args=tuple(fill(arg, "args") for arg in entry.args),
        cwd=fill(entry.cwd, "cwd"),
        env=_fill_each(entry.env, "env", fill),
        url=fill(entry.url, "url"),
        headers=_fill_each(entry.headers, "headers", fill),
        oauth=_fill_oauth(entry.oauth, fill),
    )


def server_environment(
    declared: Mapping[str, Secret], env: Mapping[str, str], passed: tuple[str, ...] = ()
) -> ChildEnvironment:
    """Build the environment of a server's process: what is declared for it, plus what every program needs.

    A proxy loses its password, unless it is declared or `passed` on to every program.
    """
    names = (*ALWAYS, *WAYS_OUT, *map(str.lower, WAYS_OUT))
    given = child_environment({name: env[name] for name in names if name in env}, passed=passed)
    return declare_environment(given, {name: value.reveal() for name, value in declared.items()})


def _fill_each(values: Mapping[str, Secret], where: str, fill: Callable[[str, str], str]) -> dict[str, Secret]:
    return {name: Secret(fill(value.reveal(), f"{where}.{name}")) for name, value in values.items()}


def _fill_oauth(given: OAuth, fill: Callable[[str, str], str]) -> OAuth:
    secret = given.client_secret
    return OAuth(
        client_id=fill(given.client_id, "oauth.clientId"),
        client_secret=secret and Secret(fill(secret.reveal(), "oauth.clientSecret")),
        scopes=given.scopes,
        port=given.port,
    )


def _variable_value(match: "re.Match[str]", env: Mapping[str, str], hidden: frozenset[str], where: str) -> str:
    name, default = match.groups()
    if name in hidden:
        raise Missing(f"{where} uses {name}, which holds one of your keys. A project's file may not use keys.")
    value = env.get(name)
    if not value and default is not None:
        return str(default)
    if value is None:
        raise Missing(f"{where} needs the variable {name}, which is not set.")
    return value
