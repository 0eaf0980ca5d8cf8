"""The entry of an MCP server in a settings file, made from arguments."""

import argparse

from halocline.client.mcp import McpService
from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject
from halocline.surfaces.cli.stderr import print_message


def warn_not_allowed(desk: McpService, name: str, given: JsonObject) -> None:
    """Warn when the administrator does not allow the server."""
    if why := desk.barred(name, given):
        print_message(why)


def read_entry(arguments: argparse.Namespace) -> JsonObject:
    """Build the server's entry for the file. Raises UsageError."""
    if not arguments.words:
        raise UsageError("No command or URL.", "Use: halo mcp add NAME COMMAND …, or halo mcp add NAME URL")
    first, *rest = arguments.words
    given: JsonObject = {"type": arguments.type} if arguments.type else {}
    if first.startswith(("http://", "https://")) and not rest:
        given |= {"url": first} | parse_pairs(arguments.header, ":", "headers")
    else:
        _warn_of_options(first, rest)
        given |= {"command": first, "args": rest} | parse_pairs(arguments.env, "=", "env")
    waits = {"timeout": arguments.timeout, "startTimeout": arguments.start_timeout}
    return given | {name: seconds for name, seconds in waits.items() if seconds}


def _warn_of_options(command: str, words: list[str]) -> None:
    """Say that a word behind the command that is also an option of ours goes to the command."""
    if ours := [word for word in words if word.partition("=")[0] in ("--timeout", "--start-timeout", "--project")]:
        print_message(f"{ours[0]} goes to {command}. If Halocline should read it, write it before the server's name.")


def parse_pairs(given: list[str], sign: str, name: str) -> JsonObject:
    """Parse `NAME=VALUE` pairs into an object under `name`; empty when there are none. Raises UsageError."""
    found: dict[str, str] = {}
    for pair in given:
        key, between, value = pair.partition(sign)
        if not between or not key.strip():
            raise UsageError(f"{pair!r} is not NAME{sign}VALUE.", "See: halo mcp add --help")
        found[key.strip()] = value.strip() if sign == ":" else value
    return {name: found} if found else {}
