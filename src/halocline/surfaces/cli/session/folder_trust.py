"""The question about a folder with its own hooks, MCP servers, rules or settings."""

import json
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from halocline.client.policy import FolderHooks, Hook as HookSetup
from halocline.client.tasks import Client
from halocline.protocol.events.hooks import HookSource
from halocline.surfaces.cli.plain.questions import pick_option
from halocline.surfaces.cli.stderr import print_folded, print_message
from halocline.surfaces.sanitize import clean, reveal
from halocline.surfaces.terminal.drawing.rule_text import describe_conditions

RULES_FILE, SETTINGS_FILE = ".halocline/policy.toml", ".halocline/settings.toml"
HOW = "To enable them: halo trust add{folder}, or --trust for one run."


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
    show_all(hooks)
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


def show_all(hooks: FolderHooks) -> None:
    """Print everything that trust enables, and what cannot be read."""
    _show_hooks(_project_hooks(hooks.list()))
    _show_servers(hooks)
    _show_rules(hooks)
    _show_settings(hooks)
    for problem in hooks.problems:
        print(f"  {'cannot be read':<16}  {clean(problem)}")
