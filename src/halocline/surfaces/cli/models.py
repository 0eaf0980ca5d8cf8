"""`halo models`: what could be named with `-m`, and what it costs."""

import argparse
import asyncio

import msgspec

from halocline.controller.assembly import Choices
from halocline.controller.client import open_client
from halocline.controller.model_list import OfferedModel
from halocline.surfaces.cli.safe_text import clean
from halocline.surfaces.figures import count

HEAD = ("model", "window", "$ in", "$ out", "")


def command(arguments: argparse.Namespace) -> int:
    words = [word.lower() for word in arguments.search]
    found = [model for model in asyncio.run(open_client(Choices()).models()) if _fits(model, words)]
    if arguments.json:
        for model in found:
            print(msgspec.json.encode(model).decode())
        return 0
    if not found:
        print("No known model fits. Any other may be named too: -m provider/model")
        return 0
    rows = [HEAD, *(_row(model) for model in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    for name, *facts in rows:
        print("  ".join([name.ljust(widths[0]), *map(str.rjust, facts, widths[1:])]).rstrip())
    print("\nDollars per million tokens. ✓: there is a key, or its server answers.")
    sources = {model.name.partition("/")[0]: model.key_source for model in found if model.key_source}
    for provider, source in sources.items():
        print(f"{provider}: the key of {source}")
    return 0


def _fits(model: OfferedModel, words: list[str]) -> bool:
    return all(word in model.name.lower() for word in words)


def _row(model: OfferedModel) -> tuple[str, ...]:
    window = count(model.window) if model.window else "?"
    return (clean(model.name), window, _price(model.input), _price(model.output), "✓" if model.usable else " ")


def _price(dollars: float | None) -> str:
    return "?" if dollars is None else f"{dollars:g}"
