"""`halo mcp search`, `show` and `install`: registry servers and bundles.

What must stay true: a person sees exactly what will be run, and agrees, before anything is written.
"""

import argparse
import getpass
import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from halocline.client.mcp import (
    McpService,
    build_server_entry,
    describe_bundle,
    list_install_options,
    list_wanted_fields,
    name_bundle,
)
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject
from halocline.surfaces import event_loop
from halocline.surfaces.cli.mcp.server_entry import parse_pairs, warn_not_allowed
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.figures import format_plural
from halocline.surfaces.sanitize import clean, reveal

if TYPE_CHECKING:
    from halocline.client.mcp import Bundle, BundleField, InstallOption, OfferedServer

SECRET = "••••"


def search_servers(desk: McpService, arguments: argparse.Namespace) -> int:
    found = event_loop.run_loop(desk.market.search(" ".join(arguments.words), arguments.tag, arguments.sort))
    if arguments.json:
        for one in found:
            print_raw(json_output.encode(one).decode())
        return 0
    if not found:
        print("No matching servers in the registry.")
    for one in found:
        print(_describe_server(one))
        print(f"    {' '.join(clean(one.description).split())[:200]}")
        if one.page:
            print(f"    {clean(one.page)}")
    return 0


def show_server(desk: McpService, arguments: argparse.Namespace) -> int:
    async def load_server() -> "tuple[OfferedServer, list[InstallOption], str]":

        one = await desk.market.find(arguments.name)
        return one, list(list_install_options(one, {})), await desk.market.readme(one, arguments.readme)

    one, known, text = event_loop.run_loop(load_server())
    print(_describe_server(one))
    print(f"    {' '.join(clean(one.description).split())}")
    print(f"    from {clean(one.page) or 'an unknown source'}. Halocline has not reviewed it.")
    for number, way in enumerate(known, start=1):
        print(f"    {number}. {reveal(_describe_option(way))}")
    print(f"\n{clean(text).strip()}" if text else "\nNo README found. To read another page: --readme URL")
    return 0


def install_server(desk: McpService, arguments: argparse.Namespace) -> int:
    values = parse_pairs(arguments.set, "=", "").get("", {})
    if arguments.name.lower().endswith((".mcpb", ".dxt")):
        bundle = event_loop.run_loop(desk.market.fetch_bundle(arguments.name, arguments.sha256.lower()))
        return _install_bundle(desk, arguments, values, bundle)
    if arguments.sha256:
        raise UsageError("--sha256 is only for a bundle given as a file or URL.", "Remove it.")
    one, ways = event_loop.run_loop(desk.market.list_options(arguments.name, values))
    if not 1 <= arguments.way <= len(ways):
        raise UsageError(f"No install option {arguments.way}.", f"Choose 1 to {len(ways)} with --way.")
    way = ways[arguments.way - 1]
    if way.bundle:
        return _install_bundle(
            desk, arguments, values, event_loop.run_loop(desk.market.fetch_bundle(way.bundle, way.sha256))
        )
    name = arguments.called or one.name.rpartition("/")[2]
    print(f"{reveal(one.name)} {clean(one.version)}: {' '.join(clean(one.description).split())}")
    print(f"  from {clean(one.page) or 'an unknown source'}. Halocline has not reviewed it.\n")
    for number, each in enumerate(ways, start=1):
        print(f"{'>' if each is way else ' '} {number}. {reveal(_describe_option(each))}")
    for variable, meaning in way.wanted:
        print(f"  Needs {reveal(variable)}{': ' + clean(meaning) if meaning else ''}")
    warn_not_allowed(desk, name, way.given)
    if not _ask_agreement(arguments, name):
        return 0
    _report_installed(name, str(desk.add(name, way.given, project=arguments.project)))
    if way.wanted:
        names = ", ".join(variable for variable, _ in way.wanted)
        print(f"First set the variables that the file names for {clean(names)}, or write the values into it.")
    return 0


def _install_bundle(desk: McpService, arguments: argparse.Namespace, values: dict[str, str], bundle: "Bundle") -> int:

    if arguments.project:
        raise UsageError("A bundle cannot be shared with a project.", "Install it without --project.")
    if unknown := values.keys() - bundle.manifest.user_config.keys():
        names = ", ".join(bundle.manifest.user_config) or "none"
        raise UsageError(f"The bundle has no value {', '.join(sorted(unknown))}.", f"Its values: {names}.")
    name = arguments.called or name_bundle(bundle)
    folder = desk.place_of(name)
    print(reveal(describe_bundle(bundle)))
    print(f"  {' '.join(clean(bundle.manifest.description).split())[:300]}")
    print(f"  from {clean(arguments.name)}, SHA-256 {bundle.sha256[:16]}…. Halocline has not reviewed it.\n")
    values |= {key: _ask_value(key, field) for key, field in list_wanted_fields(bundle, values).items()}
    given = build_server_entry(bundle, folder, values)
    print(f"  It will be unpacked to {clean(str(folder))} and run there:")
    print(f"  {reveal(_command_line(_redact_server(given, bundle, values)))}")
    warn_not_allowed(desk, name, given)
    if not _ask_agreement(arguments, name):
        return 0
    _report_installed(name, str(desk.add_bundle(name, bundle, given)))
    return 0


def _ask_value(name: str, field: "BundleField") -> str:
    """Ask for a value of the bundle. Raises UsageError without a terminal or an answer."""
    about = clean(" ".join((field.description or field.title).split()))[:300]
    if not sys.stdin.isatty():
        raise UsageError(f"The bundle needs {name}{': ' + about if about else ''}.", f"Use: --set {name}=VALUE")
    question = f"  {reveal(field.title or name)}{' (' + about + ')' if about else ''}: "
    value = _read_answer(question, getpass.getpass if field.sensitive else input)
    if not value.strip():
        raise UsageError(f"The bundle needs {name}.", "Nothing was installed.")
    return value.strip()


def _redact_server(given: JsonObject, bundle: "Bundle", values: dict[str, str]) -> JsonObject:
    """Redact the given secrets in a server's entry, for display."""
    secret = [values[name] for name, field in bundle.manifest.user_config.items() if field.sensitive and name in values]

    def redact_text(text: str) -> str:
        for value in filter(None, secret):
            text = text.replace(value, SECRET)
        return text

    env = {name: redact_text(value) for name, value in given.get("env", {}).items()}
    return {**given, "args": [redact_text(word) for word in given["args"]], "env": env}


def _describe_server(one: "OfferedServer") -> str:
    old = "  (deprecated)" if one.is_deprecated else ""
    tags = f"  [{clean(', '.join(one.tags))}]" if one.tags else ""
    counts = [format_plural(count, what) for count, what in ((one.stars, "star"), (one.downloads, "download")) if count]
    facts = filter(None, (reveal(one.name), clean(one.version), *counts, clean(one.changed_at)[:10]))
    return "  ".join(facts) + tags + old


def _describe_option(way: "InstallOption") -> str:
    if way.bundle:
        return f"unpack the bundle {way.bundle} and run its command, shown first"
    if "url" in way.given:
        headers = way.given.get("headers", {})
        return " ".join((f"connect to {way.given['url']}", *(f"{name}: {headers[name]}" for name in headers)))
    return f"run {_command_line(way.given)}"


def _command_line(given: JsonObject) -> str:
    env = [f"{name}={value}" for name, value in given.get("env", {}).items()]
    return shlex.join((given["command"], *given["args"])) + (f" with {' '.join(env)}" if env else "")


def _ask_agreement(arguments: argparse.Namespace, name: str) -> bool:
    """Return True if a person agrees. Raises UsageError without a terminal or `--yes`."""
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("Installing needs your confirmation.", "Review it first, then add --yes.")
    question = f"\nAdd it as {clean(name)}, to be run as shown? [y/N] "
    agreed = _read_answer(question, input).strip().lower() in ("y", "yes")
    if not agreed:
        print("Nothing was installed.")
    return agreed


def _read_answer(question: str, read: Callable[[str], str]) -> str:
    """Read a line; empty when the input ends."""
    try:
        return read(question)
    except EOFError:
        print()
        return ""


def _report_installed(name: str, file: str) -> None:
    print(f"Added {clean(name)} to {clean(file)}. To test it: halo mcp test {clean(name)}")
