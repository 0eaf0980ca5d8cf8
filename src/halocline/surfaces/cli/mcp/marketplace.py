"""`halo mcp search`, `show` and `install`: servers of a registry, and bundles.

What must stay true: a person sees the very words that will be run, and agrees, before anything is written.
"""

import argparse
import getpass
import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.protocol.values import JsonObject
from halocline.services.mcp.servers import McpService
from halocline.surfaces import event_loop
from halocline.surfaces.cli.mcp.manage import parse_pairs, warn_not_allowed
from halocline.surfaces.cli.output.sanitize import clean, reveal
from halocline.surfaces.figures import format_plural

if TYPE_CHECKING:
    from halocline.mcp.registry.bundles import Bundle, BundleField
    from halocline.mcp.registry.registry import InstallOption, Offered

SECRET = "••••"


def search_servers(desk: McpService, arguments: argparse.Namespace) -> int:
    found = event_loop.run_loop(desk.found(" ".join(arguments.words), arguments.tag, arguments.sort))
    if arguments.json:
        for one in found:
            sys.stdout.write(json_output.encode(one).decode() + "\n")
        return 0
    if not found:
        print("The registry has no server with these words.")
    for one in found:
        print(_describe_server(one))
        print(f"    {' '.join(clean(one.description).split())[:200]}")
        if one.page:
            print(f"    {clean(one.page)}")
    return 0


def show_server(desk: McpService, arguments: argparse.Namespace) -> int:
    async def shown() -> "tuple[Offered, list[InstallOption], str]":
        from halocline.mcp.registry.registry import list_install_options

        one = await desk.named(arguments.name)
        return one, list(list_install_options(one, {})), await desk.readme(one, arguments.readme)

    one, known, text = event_loop.run_loop(shown())
    print(_describe_server(one))
    print(f"    {' '.join(clean(one.description).split())}")
    print(f"    from {clean(one.page) or 'an unknown place'}. Nobody here has looked at it.")
    for number, way in enumerate(known, start=1):
        print(f"    {number}. {reveal(_describe_option(way))}")
    print(f"\n{clean(text).strip()}" if text else "\nWhat its makers say of it is not known here: --readme URL")
    return 0


def install_server(desk: McpService, arguments: argparse.Namespace) -> int:
    values = parse_pairs(arguments.set, "=", "").get("", {})
    if arguments.name.lower().endswith((".mcpb", ".dxt")):
        bundle = event_loop.run_loop(desk.bundle(arguments.name, arguments.sha256.lower()))
        return _install_bundle(desk, arguments, values, bundle)
    if arguments.sha256:
        raise UsageError("Only a bundle that you name by its place has --sha256.", "Leave it out.")
    one, ways = event_loop.run_loop(desk.offered(arguments.name, values))
    if not 1 <= arguments.way <= len(ways):
        raise UsageError(f"There is no way {arguments.way}.", f"There are {len(ways)}.")
    way = ways[arguments.way - 1]
    if way.bundle:
        return _install_bundle(desk, arguments, values, event_loop.run_loop(desk.bundle(way.bundle, way.sha256)))
    name = arguments.called or one.name.rpartition("/")[2]
    print(f"{reveal(one.name)} {clean(one.version)}: {' '.join(clean(one.description).split())}")
    print(f"  from {clean(one.page) or 'an unknown place'}. Nobody here has looked at it.\n")
    for number, each in enumerate(ways, start=1):
        print(f"{'>' if each is way else ' '} {number}. {reveal(_describe_option(each))}")
    for variable, meaning in way.wanted:
        print(f"  It wants {reveal(variable)}{': ' + clean(meaning) if meaning else ''}")
    warn_not_allowed(desk, name, way.given)
    if not _ask_agreement(arguments, name):
        return 0
    _report_installed(name, str(desk.add(name, way.given, project=arguments.project)))
    if way.wanted:
        names = ", ".join(variable for variable, _ in way.wanted)
        print(f"Before that, set the variables it names for {clean(names)}, or write the values there.")
    return 0


def _install_bundle(desk: McpService, arguments: argparse.Namespace, values: dict[str, str], bundle: "Bundle") -> int:
    from halocline.mcp.registry import bundles

    if arguments.project:
        raise UsageError("A bundle is unpacked for you alone.", "Install it without --project.")
    if unknown := values.keys() - bundle.manifest.user_config.keys():
        names = ", ".join(bundle.manifest.user_config) or "nothing"
        raise UsageError(f"The bundle does not want {', '.join(sorted(unknown))}.", f"It wants {names}.")
    name = arguments.called or bundles.name_of(bundle)
    folder = desk.place_of(name)
    print(reveal(bundles.describe_bundle(bundle)))
    print(f"  {' '.join(clean(bundle.manifest.description).split())[:300]}")
    print(f"  from {clean(arguments.name)}, SHA-256 {bundle.sha256[:16]}…. Nobody here has looked at it.\n")
    values |= {key: _ask_value(key, wish) for key, wish in bundles.wanted_fields(bundle, values).items()}
    given = bundles.server_entry(bundle, folder, values)
    print(f"  It is unpacked to {clean(str(folder))}, and run there:")
    print(f"  {reveal(_command_line(_redact_server(given, bundle, values)))}")
    warn_not_allowed(desk, name, given)
    if not _ask_agreement(arguments, name):
        return 0
    _report_installed(name, str(desk.add_bundle(name, bundle, given)))
    return 0


def _ask_value(name: str, wish: "BundleField") -> str:
    """What a person says a value is. Raises UsageError where nobody is there, or nothing is said."""
    about = clean(" ".join((wish.description or wish.title).split()))[:300]
    if not sys.stdin.isatty():
        raise UsageError(f"The bundle wants {name}{': ' + about if about else ''}.", f"Give it: --set {name}=VALUE")
    question = f"  {reveal(wish.title or name)}{' (' + about + ')' if about else ''}: "
    said = _read_answer(question, getpass.getpass if wish.sensitive else input)
    if not said.strip():
        raise UsageError(f"The bundle cannot do without {name}.", "Nothing was set up.")
    return said.strip()


def _redact_server(given: JsonObject, bundle: "Bundle", values: dict[str, str]) -> JsonObject:
    """The same to be shown: secrets that were given are not."""
    secret = [values[name] for name, wish in bundle.manifest.user_config.items() if wish.sensitive and name in values]

    def hidden(text: str) -> str:
        for value in filter(None, secret):
            text = text.replace(value, SECRET)
        return text

    env = {name: hidden(value) for name, value in given.get("env", {}).items()}
    return {**given, "args": [hidden(word) for word in given["args"]], "env": env}


def _describe_server(one: "Offered") -> str:
    old = "  (deprecated)" if one.is_deprecated else ""
    tags = f"  [{clean(', '.join(one.tags))}]" if one.tags else ""
    counts = [format_plural(count, what) for count, what in ((one.stars, "star"), (one.downloads, "download")) if count]
    facts = filter(None, (reveal(one.name), clean(one.version), *counts, clean(one.changed_at)[:10]))
    return "  ".join(facts) + tags + old


def _describe_option(way: "InstallOption") -> str:
    if way.bundle:
        return f"unpack the bundle {way.bundle}, and run what it says, which is shown first"
    if "url" in way.given:
        headers = way.given.get("headers", {})
        return " ".join((f"reach {way.given['url']}", *(f"{name}: {headers[name]}" for name in headers)))
    return f"run {_command_line(way.given)}"


def _command_line(given: JsonObject) -> str:
    env = [f"{name}={value}" for name, value in given.get("env", {}).items()]
    return shlex.join((given["command"], *given["args"])) + (f" with {' '.join(env)}" if env else "")


def _ask_agreement(arguments: argparse.Namespace, name: str) -> bool:
    """Whether a person agrees. Raises UsageError where nobody is there."""
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError("Nobody is there to agree.", "Look at it first, then add --yes.")
    question = f"\nSet it up as {clean(name)}, to be run so from now on? [y/N] "
    agreed = _read_answer(question, input).strip().lower() in ("y", "yes")
    if not agreed:
        print("Nothing was set up.")
    return agreed


def _read_answer(question: str, read: Callable[[str], str]) -> str:
    """What a person types; nothing when they close the input."""
    try:
        return read(question)
    except EOFError:
        print()
        return ""


def _report_installed(name: str, file: str) -> None:
    print(f"{clean(name)} is set up in {clean(file)}. Try it: halo mcp test {clean(name)}")
