"""`halo config`: show and change the settings. The file keeps its comments; what looks like a key is not shown."""

import argparse

from halocline.client import Choices, Setting, open_client
from halocline.protocol import json_output
from halocline.surfaces.slash.config import change_setting, format_setting

DEFAULT = "default"


def command(arguments: argparse.Namespace) -> int:
    service = open_client(Choices()).settings
    match arguments.action:
        case "get":
            _print_rows(service.find(arguments.name), arguments, is_named=False)
        case "set" | "unset":
            print(change_setting(service, arguments.name, arguments.value if arguments.action == "set" else None))
        case _:
            _print_rows(_search(service.listed(), arguments.words), arguments)
    return 0


def _search(rows: list[Setting], words: list[str]) -> list[Setting]:
    return [row for row in rows if all(word.lower() in f"{row.name} {row.doc}".lower() for word in words)]


def _print_rows(rows: list[Setting], arguments: argparse.Namespace, *, is_named: bool = True) -> None:
    if arguments.action != "get" and arguments.json:
        for row in rows:
            print(json_output.encode(row).decode())
        return
    for row in rows:
        value = format_setting(row.value)
        line = f"{row.name} = {value}" if is_named or len(rows) > 1 else value
        print(f"{line}  ({row.source or DEFAULT})" if arguments.explain else line)
