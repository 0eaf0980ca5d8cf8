"""`halo config`: show and change the settings. The file keeps its comments; what looks like a key is not shown."""

import argparse
import json
from pathlib import Path
from typing import Any

from halocline.client import Choices, Setting, open_client
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.surfaces.sanitize import clean

DEFAULT = "default"


def command(arguments: argparse.Namespace) -> int:
    service = open_client(Choices()).settings
    match arguments.action:
        case "get":
            _print_rows(service.find(arguments.name), arguments, is_named=False)
        case "set":
            (row,) = service.find(arguments.name, exact=True)
            service.put(arguments.name, _parse_value(row, arguments.value, arguments.name))
            _report_change(service.find(row.name, exact=True)[0], service.file)
        case "unset":
            (row,) = service.find(arguments.name, exact=True)
            service.put(arguments.name, None)
            _report_change(service.find(row.name, exact=True)[0], service.file)
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
        value = _format_value(row.value)
        line = f"{row.name} = {value}" if is_named or len(rows) > 1 else value
        print(f"{line}  ({row.source or DEFAULT})" if arguments.explain else line)


def _format_value(value: Any) -> str:
    """A text as it is, and everything else as JSON, which is TOML for most values."""
    return clean(value) if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _parse_value(row: Setting, text: str, name: str) -> Any:
    """Read the value that was typed: texts need no quotes, and lists no brackets. Raises UsageError."""
    if row.kind in ("text", "choice") and row.name == name:
        return text
    if row.kind == "list" and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        if row.kind == "table":  # a key of one, which may be a text
            return text
        kinds = {"switch": "true or false", "number": "a number"}
        raise UsageError(
            f"{text!r} is not a value for {name}.", f"It takes {kinds.get(row.kind, row.kind)}."
        ) from error


def _report_change(row: Setting, file: str) -> None:
    if row.source not in ("", Path(file).name):
        print(f"Changed {row.name} in {file}, but {row.source} is set and overrides it.")
        return
    print(f"{row.name} is now {_format_value(row.value) if row.source else 'its default'} ({file}).")
