"""`halo trust` and `halo hooks`: folders with their own hooks, MCP servers, rules or settings."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from halocline.client.options import Choices
from halocline.client.policy import FolderHooks, Hook as HookSetup
from halocline.client.tasks import open_client
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.session.folder_trust import show_all
from halocline.surfaces.cli.stderr import print_raw
from halocline.surfaces.figures import format_time
from halocline.surfaces.folder_lists import describe_hooks
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.drawing.table import entry


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


def _trust_folder(hooks: FolderHooks, folder: Path) -> None:
    if hooks.standing == "nothing":
        text = f"{folder} has no hooks, servers, rules or settings that need trust, so there is nothing to trust."
        raise UsageError(text, "See: halo hooks list, halo mcp list")
    hooks.say(trusted=True)
    print(f"{clean(str(folder))} is trusted as it is now:")
    show_all(hooks)


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
