"""`halo plugins`: list, install, trust and turn off plug-ins."""

import argparse

from halocline.client.options import Choices
from halocline.client.plugins import PluginService
from halocline.client.tasks import open_client
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.surfaces import event_loop
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.plain.questions import ask_yes_no
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.folder_lists import describe_plugins, describe_whole_plugin
from halocline.surfaces.sanitize import clean

LATER = "It stays off until you trust it: halo plugins trust {name}"


def command(arguments: argparse.Namespace) -> int:
    workspace = workspace_of(arguments.cwd)
    plugins, name = open_client(Choices(), folder=workspace).plugins_of(workspace), getattr(arguments, "name", "")
    match arguments.action:
        case "list":
            _list_plugins(plugins, as_json=arguments.json)
        case "show":
            print_raw(describe_whole_plugin(plugins.describe(plugins.find(name))))
        case "install":
            event_loop.run_loop(_install(plugins, name, agrees=arguments.yes))
        case "update":
            event_loop.run_loop(_install(plugins, plugins.source_of(name), agrees=arguments.yes, replaces=name))
        case "trust":
            if not _ask_trust(plugins, name, agrees=arguments.yes):
                raise UsageError(f"{clean(name)} stays off.", "To trust it without a question: --yes")
        case "remove":
            plugins.remove(name)
            print(f"Removed {clean(name)}.")
        case switch:
            plugins.switch(name, on=switch == "enable")
            print(f"{clean(name)} is turned {'on' if switch == 'enable' else 'off'} for new tasks.")
    return 0


def _list_plugins(plugins: PluginService, *, as_json: bool) -> None:
    listed = plugins.listed()
    if not as_json:
        print_raw(describe_plugins(listed))
    for plugin in listed if as_json else ():
        print_raw(json_output.encode(plugin).decode())


async def _install(plugins: PluginService, source: str, *, agrees: bool, replaces: str = "") -> None:
    async with plugins.fetch(source) as fetched:
        found = plugins.install(fetched, source, replaces=replaces)
    before = f" It was {clean(replaces)} before." if replaces not in ("", found.name) else ""
    print(f"Installed {clean(found.name)} in {clean(found.folder)}.{before}")
    if not _ask_trust(plugins, found.name, agrees=agrees):
        print(LATER.format(name=clean(found.name)))


def _ask_trust(plugins: PluginService, name: str, *, agrees: bool) -> bool:
    """Show the whole of a plug-in and ask once; a person who is not there has not agreed. Return whether one did."""
    one = plugins.find(name)
    print_raw(describe_whole_plugin(plugins.describe(one)))
    trusted = agrees or ask_yes_no(f"Trust {clean(name)} as it is now?")
    if trusted:
        plugins.decide(one.found, trusted=True)
        print(f"{clean(name)} is trusted as it is now.")
    return trusted
