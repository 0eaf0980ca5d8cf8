"""`halo trust`, `halo hooks`, and the question about folders with their own hooks, MCP servers, rules or settings."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from halocline.client import Choices, Client, FolderHooks, Hook as HookSetup, open_client
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.protocol.events.hooks import HookSource
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.input.plain_questions import pick_option
from halocline.surfaces.cli.output.rule_text import describe_conditions
from halocline.surfaces.cli.output.table import entry
from halocline.surfaces.cli.stderr import print_folded, print_message, print_raw
from halocline.surfaces.figures import format_time
from halocline.surfaces.folder_lists import describe_hooks
from halocline.surfaces.sanitize import clean, reveal

RULES_FILE, SETTINGS_FILE = ".halocline/policy.toml", ".halocline/settings.toml"
HOW = "To enable them: halo trust add{folder}, or --trust for one run."


def command(arguments: argparse.Namespace) -> int:
    folder = Path(arguments.folder).expanduser()
    client = open_client(Choices(hook_folders=getattr(arguments, "hook_folders", None)))
    match arguments.action:
        case "remove":
            _distrust_folder(client.hooks_of(Path.cwd()), folder)
        case "add":
            if not folder.is_dir():
                raise UsageError(f"{folder} is not a folder.", "Name an existing one: halo trust add FOLDER")
            _trust_folder(client.hooks_of(workspace_of(arguments.folder)), workspace_of(arguments.folder))
        case _ if arguments.command == "trust":
            _list_folders(client.hooks_of(Path.cwd()))
        case _:
            _list_hooks(client.hooks_of(workspace_of(arguments.folder)).list(), as_json=arguments.json)
    return 0


def settle_trust(client: Client, folder: Path, *, attended: bool) -> None:
    """Ask once about a folder's own hooks and servers; unattended, report what stays off. Raises SettingsError."""
    hooks = client.hooks_of(folder)
    standing = hooks.standing
    if standing in ("nothing", "trusted"):
        return
    if attended and standing != "refused":
        _ask_trust(hooks, folder, changed=standing == "changed")
        return
    files = dict.fromkeys(
        (*(clean(hook.file) for hook in _project_hooks(hooks.list())), *(server.file.name for server in hooks.servers))
    )
    if hooks.allowing_rules:
        files[RULES_FILE] = None
    if hooks.settings:
        files[SETTINGS_FILE] = None
    for problem in hooks.problems:
        print_message(f"{clean(problem)} Its servers are off until you fix it.")
    if not files:
        return
    why = "changed since it was trusted" if standing == "changed" else "is not trusted"
    print_message(
        f"{clean(str(folder))} {why}, so its {_describe_kinds(hooks)} are off ({', '.join(files)}). "
        + _say_how_to_trust(folder)
    )


def _say_how_to_trust(folder: Path) -> str:
    """Say how to trust a folder; another one than that of the shell is named."""
    return HOW.format(folder="" if folder == Path.cwd() else f" {clean(quote(str(folder)))}")


def _ask_trust(hooks: FolderHooks, folder: Path, *, changed: bool) -> None:
    why = " It changed since you trusted it." if changed else ""
    kinds = _describe_kinds(hooks)
    print_folded(f"The folder {reveal(str(folder))} has its own {kinds}, which take effect while you work here.{why}\n")
    _show_all(hooks)
    print()
    trusted = pick_option("Enable them?", {"n": "no, leave them off", "y": "yes, as they are now"}) == "y"
    hooks.say(trusted=trusted)
    if not trusted:
        print_folded(f"They stay off. {_say_how_to_trust(folder)}")


def _project_hooks(hooks: Sequence[HookSetup]) -> list[HookSetup]:
    return [hook for hook in hooks if hook.source is HookSource.PROJECT]


def _show_hooks(hooks: Sequence[HookSetup]) -> None:
    for hook in hooks:
        at = f" in {hook.file}" if hook.file != hook.name else ""
        print(f"  {reveal(hook.event or '?'):<16}  {' '.join(reveal(hook.name + at).split())}")


def _show_servers(hooks: FolderHooks) -> None:
    for server in hooks.servers:
        print(f"  {'MCP server':<16}  {' '.join(reveal(f'{server.name}: {server.runs}').split())}")


def _describe_kinds(hooks: FolderHooks) -> str:
    """Name the kinds of things that trust would enable."""
    rules = ("rules that allow", hooks.allowing_rules)
    settings = ("settings", hooks.settings)
    kinds = (("hooks", _project_hooks(hooks.list())), ("MCP servers", hooks.servers), rules, settings)
    names = [name for name, found in kinds if found]
    return " and ".join((", ".join(names[:-1]), names[-1]) if names[1:] else names) or "rules"


def _show_rules(hooks: FolderHooks) -> None:
    for rule in hooks.allowing_rules:
        print(f"  {'rule':<16}  allow {reveal(describe_conditions(rule))}")


def _show_settings(hooks: FolderHooks) -> None:
    for name, value in hooks.settings.items():
        print(f"  {'setting':<16}  {reveal(name)} = {reveal(json.dumps(value, default=str))}")


def _trust_folder(hooks: FolderHooks, folder: Path) -> None:
    if hooks.standing == "nothing":
        text = f"{folder} has no hooks, servers, rules or settings that need trust, so there is nothing to trust."
        raise UsageError(text, "See: halo hooks list, halo mcp list")
    hooks.say(trusted=True)
    print(f"{clean(str(folder))} is trusted as it is now:")
    _show_all(hooks)


def _show_all(hooks: FolderHooks) -> None:
    """Print everything that trust enables, and what cannot be read."""
    _show_hooks(_project_hooks(hooks.list()))
    _show_servers(hooks)
    _show_rules(hooks)
    _show_settings(hooks)
    for problem in hooks.problems:
        print(f"  {'cannot be read':<16}  {clean(problem)}")


def _distrust_folder(hooks: FolderHooks, folder: Path) -> None:
    if not hooks.forget(folder):
        raise UsageError(f"No decision is stored for {folder.resolve()}.", "See: halo trust list")
    print(f"{clean(str(folder.resolve()))} is not trusted any more; its hooks, MCP servers and settings are off.")


def _list_folders(hooks: FolderHooks) -> None:
    folders = hooks.folders
    if not folders:
        print("No trusted folders. Halocline asks about folders with their own hooks; or use: halo trust add")
    for folder, decision in sorted(folders.items()):
        print(entry(format_time(decision.at), "trusted" if decision.trusted else "off    ", text=folder))


def _list_hooks(hooks: Sequence[HookSetup], *, as_json: bool) -> None:
    if as_json:
        for hook in hooks:
            print_raw(json_output.encode(hook).decode())
        return
    print_raw(describe_hooks(hooks))
