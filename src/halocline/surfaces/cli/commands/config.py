"""`halo config`: show and change the settings. The file keeps its comments; what looks like a key is not shown."""

import argparse
from pathlib import Path

from halocline.client.options import Choices
from halocline.client.settings import Setting, SettingsService
from halocline.client.tasks import open_client
from halocline.protocol import json_output
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.config import change_setting, format_setting

DEFAULT = "default"


def command(arguments: argparse.Namespace) -> int:
    changes = arguments.name if arguments.action in ("set", "unset") else None
    service = open_client(Choices(changes=changes)).settings_in(Path.cwd())
    match arguments.action:
        case "get":
            rows = service.find(arguments.name)
            _print_rows(rows, arguments, is_named=False)
            _report_refused(service, arguments, [row.name for row in rows])
        case "set" | "unset":
            print_raw(change_setting(service, arguments.name, arguments.value if arguments.action == "set" else None))
        case _:
            rows = _search(service.listed(), arguments.words)
            _print_rows(rows, arguments)
            _report_refused(service, arguments, None if not arguments.words else [row.name for row in rows])
    return 0


def _report_refused(service: SettingsService, arguments: argparse.Namespace, names: list[str] | None) -> None:
    """Say on stderr which settings of the folder are not in force, and why; with `names` only of these."""
    if arguments.explain:
        for text in service.refused:
            if names is None or text.partition(" ")[0] in names:
                print_message(clean(text))


def _search(rows: list[Setting], words: list[str]) -> list[Setting]:
    return [row for row in rows if all(word.lower() in f"{row.name} {row.doc}".lower() for word in words)]


def _print_rows(rows: list[Setting], arguments: argparse.Namespace, *, is_named: bool = True) -> None:
    if arguments.action != "get" and arguments.json:
        for row in rows:
            print_raw(json_output.encode(row).decode())
        return
    for row in rows:
        value = format_setting(row.value)
        line = f"{row.name} = {value}" if is_named or len(rows) > 1 else value
        print_raw(f"{line}  ({row.source or DEFAULT})" if arguments.explain else line)
