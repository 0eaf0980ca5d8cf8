"""`halo import mcp`: the MCP servers of other agents, shown as they would be run, and copied one by one on request."""

import argparse
import sys

from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.services.mcp.servers import Elsewhere, McpService, runs_as
from halocline.surfaces.cli.commands.run import workspace_of
from halocline.surfaces.cli.commands.tasks import ask_yes_no
from halocline.surfaces.cli.output.sanitize import clean, reveal


def command(arguments: argparse.Namespace) -> int:
    """Without a terminal nothing is set up, unless it was agreed to before."""
    desk = McpService.open(workspace_of(arguments.workspace or "."))
    found = [one for one in desk.elsewhere() if arguments.path in ("", one.name)]
    if arguments.path and not found:
        raise UsageError(f"No other agent has a server {arguments.path!r} that is not here.", "See: halo import mcp")
    if not found and not arguments.json:
        print("No other agent has an MCP server that is not here. Those that are: halo mcp list")
    asks = sys.stdin.isatty() and not arguments.json
    looks = arguments.list or arguments.dry_run or not (arguments.yes or asks)
    for one in found:
        if arguments.json:
            print(json_output.encode(one).decode())
        else:
            print(f"{reveal(one.name)}  (from {clean(one.file)})\n    {reveal(runs_as(one.given))}")
            _tell_of_values(one.variables, one.headers)
        if not looks and (arguments.yes or ask_yes_no("    Set it up, to be run so from now on?")):
            _set_up(desk, one)
    if found and looks and not arguments.json:
        print("\nNothing was set up. On a terminal you are asked for each; for all of them: halo import mcp --yes")
    return 0


def _set_up(desk: McpService, one: Elsewhere) -> None:
    try:
        file = desk.add(one.name, one.given, project=False)
    except UsageError as error:
        print(f"    not set up: {clean(error.text)}", file=sys.stderr)
        return
    print(f"    set up in {clean(str(file))}. Try it: halo mcp test {clean(one.name)}", file=sys.stderr)


def _tell_of_values(variables: tuple[str, ...], headers: tuple[str, ...]) -> None:
    """Values may be keys, so they stay where they are."""
    if variables:
        print(f"    Set before: {', '.join(map(reveal, variables))} (values are not copied)")
    if headers:
        print(f"    Left out: the headers {', '.join(map(reveal, headers))}; sign in with: halo mcp login")
