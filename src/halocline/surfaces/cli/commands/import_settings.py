"""`halo import settings`: show what other agents' settings become here, and set those you confirm."""

import argparse
import json
import sys
from itertools import groupby

from halocline.client.imports import ForeignSetting, SettingsImport
from halocline.protocol import json_output
from halocline.protocol.errors import HaloclineError
from halocline.surfaces.cli.plain.questions import ask_yes_no
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.sanitize import clean, reveal

LONGEST = 200


def command(arguments: argparse.Namespace) -> int:
    """List the settings, with what is not taken over; without a terminal set none unless `--yes` is given."""
    service = SettingsImport.open()
    found = service.list()
    if arguments.json:
        for one in found:
            print_raw(json_output.encode(one).decode())
        return 0
    if not found:
        print("No new settings in other agents. To show yours: halo config list")
    looks = arguments.list or arguments.dry_run or not (arguments.yes or sys.stdin.isatty())
    taken: set[str] = set()
    for (program, file), rows in groupby(found, key=lambda one: (one.program, one.file)):
        print(f"{program}  ({clean(file)})")
        for one in rows:
            _offer(service, one, taken, looks=looks, yes=arguments.yes)
    if looks and any(one.name for one in found):
        print("\nNothing was set. Run this on a terminal to choose, or set all: halo import settings --yes")
    return 0


def _offer(service: SettingsImport, one: ForeignSetting, taken: set[str], *, looks: bool, yes: bool) -> None:
    if one.gap:
        print(f"    {reveal(one.key)}: {one.gap}")
        return
    print(f"    {reveal(one.key)}: {reveal(one.name)} = {_shorten(one.value)}")
    if looks or one.name in taken or not (yes or ask_yes_no(f"    Set {one.name}?")):
        return
    try:
        service.put(one)
    except HaloclineError as error:
        print_message(clean(error.text), clean(error.hint))
        return
    taken.add(one.name)
    print(f"    {one.name} is set.")


def _shorten(value: object) -> str:
    text = reveal(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
