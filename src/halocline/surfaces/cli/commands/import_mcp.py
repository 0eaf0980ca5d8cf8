"""`halo import mcp`: list MCP servers of other agents with their commands, and copy those you confirm."""

import argparse
import sys

from halocline.client.imports import OtherServers
from halocline.client.mcp import McpService, describe_server_entry
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.plain.questions import ask_yes_no
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.sanitize import clean, reveal


def command(arguments: argparse.Namespace) -> int:
    """List and add servers; without a terminal, add none unless `--yes` is given."""
    desk = McpService.open(workspace_of(arguments.workspace or "."))
    listed = desk.elsewhere()
    found = [one for one in listed if not one.problem and arguments.path in ("", one.name)]
    for one in listed:
        if one.problem:
            print(f"{clean(one.file)} cannot be read: {clean(one.problem)}", file=sys.stderr)
    if arguments.path and not found:
        raise UsageError(f"No new server {arguments.path!r} in other agents.", "See: halo import mcp")
    if not found and not arguments.json:
        print("No new MCP servers in other agents. To list yours: halo mcp list")
    asks = sys.stdin.isatty() and not arguments.json
    looks = arguments.list or arguments.dry_run or not (arguments.yes or asks)
    for one in found:
        if arguments.json:
            print_raw(json_output.encode(one).decode())
        else:
            print(f"{reveal(one.name)}  (from {clean(one.file)})\n    {reveal(describe_server_entry(one.given))}")
            _describe_values(one.variables, one.headers)
            _describe_limits(one.given)
            for key, why in one.gaps.items():
                print(f"    Not taken over: {reveal(key)} ({why})")
        if not looks and (arguments.yes or ask_yes_no("    Add it, to be run as shown?")):
            _set_up(desk, one)
    if found and looks and not arguments.json:
        print("\nNothing was added. Run this on a terminal to choose, or add all: halo import mcp --yes")
    return 0


def _set_up(desk: McpService, one: OtherServers) -> None:
    try:
        file = desk.add(one.name, one.given, project=False)
    except UsageError as error:
        print(f"    not added: {clean(error.text)}", file=sys.stderr)
        return
    print(f"    added to {clean(str(file))}. To test it: halo mcp test {clean(one.name)}", file=sys.stderr)


def _describe_values(variables: tuple[str, ...], headers: tuple[str, ...]) -> None:
    """Name the values to set; they may be keys, so they are not copied."""
    if variables:
        print(f"    Set these first: {', '.join(map(reveal, variables))} (values are not copied)")
    if headers:
        print(f"    Headers not copied: {', '.join(map(reveal, headers))}; sign in with: halo mcp login")


def _describe_limits(given: JsonObject) -> None:
    """Name the time limits, of which each program has its own unit."""
    limits = (("timeout", "for a call"), ("startTimeout", "for the start"))
    if found := [f"{given[key]:g} s {what}" for key, what in limits if key in given]:
        print(f"    Time limits: {', '.join(found)}")
