"""`halo models`: the models that `-m` accepts, and their prices. By default only those that are usable now."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from halocline.client.models import NO_CHAT, OfferedModel
from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.protocol import json_output
from halocline.surfaces import event_loop
from halocline.surfaces.cli.stderr import print_message, print_raw
from halocline.surfaces.figures import format_count
from halocline.surfaces.sanitize import clean

HEAD = ("model", "window", "output", "$ in", "$ out", "$ cached", "can")
LEGEND = "Prices in dollars per million tokens; +: higher for long requests; –: unknown."

OTHER_API = "-responses/"
MOST_ROWS = 100
"""Above this many rows, a terminal shows a count per provider instead."""


def command(arguments: argparse.Namespace) -> int:
    if arguments.refresh:
        event_loop.run_loop(_refresh_catalogue())
        if not (arguments.search or arguments.all or arguments.json):
            return 0
    words, models = [word.lower() for word in arguments.search], open_client(Choices()).models
    fitting = [model for model in event_loop.run_loop(models.list_models()) if _matches_words(model, words)]
    shown = fitting if arguments.all else _select_shown([model for model in fitting if model.usable], words)
    if arguments.json:
        for model in shown:
            print_raw(json_output.encode(model).decode())
    elif len(shown) > MOST_ROWS and sys.stdout.isatty():
        _print_providers(shown, ["halo models", *(["--all"] if arguments.all else []), *words])
    elif shown:
        _print_models(shown)
    if not arguments.json:
        _print_brought(models.list_brought(), words)
        _say_what_is_left_out(fitting, shown, words)
    return 0


def _select_shown(models: Sequence[OfferedModel], words: Sequence[str]) -> list[OfferedModel]:
    """Drop models that are deprecated, not made for chat, or listed under another API of the same vendor."""
    is_other_wanted = any(OTHER_API[:-1] in word for word in words)
    names = set() if is_other_wanted else {model.name for model in models}
    return [
        model
        for model in models
        if not (model.leaving or NO_CHAT.search(model.name))
        and (OTHER_API not in model.name or model.name.replace(OTHER_API, "/", 1) not in names)
    ]


async def _refresh_catalogue() -> None:
    done = await open_client(Choices()).models.refresh()
    outcome = "Updated the catalog" if done.is_new else "The catalog is already up to date"
    print_message(f"{outcome}: {done.models:,} models of {done.providers} providers.")


def _print_models(models: Sequence[OfferedModel]) -> None:
    rows = [HEAD, *(_model_row(model) for model in models)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD) - 1)]
    for name, *facts, able in rows:
        print("  ".join([name.ljust(widths[0]), *map(str.rjust, facts, widths[1:]), able]).rstrip())
    print(f"\n{LEGEND}")
    sources = {model.name.partition("/")[0]: model.key_source for model in models if model.key_source}
    for provider, source in sources.items():
        print(f"{clean(provider)}: key from {source}")


def _print_brought(brought: Mapping[str, str], words: Sequence[str]) -> None:
    for name, plugin in ((clean(provider), clean(plugin)) for provider, plugin in brought.items()):
        if all(word in f"{name}/ {plugin}".lower() for word in words):
            print(f"{name}: of the plug-in {plugin}, which may have others: -m {name}/NAME")


def _print_providers(models: Sequence[OfferedModel], call: Sequence[str]) -> None:
    counts = Counter(clean(model.name.partition("/")[0]) for model in models)
    calls = {" ".join([*call, f"{provider}/"]): number for provider, number in counts.items()}
    width = max(map(len, calls))
    for narrower, number in calls.items():
        print(f"{narrower.ljust(width)}  {number:5,} model{'s' if number > 1 else ''}")
    print("\nToo many to list: add a provider or part of a name.")


def _say_what_is_left_out(fitting: Sequence[OfferedModel], shown: Sequence[OfferedModel], words: Sequence[str]) -> None:
    more = len(fitting) - len(shown)
    again = " ".join(["halo models --all", *words])
    if not fitting:
        print("No known model matches. Other models work too: -m provider/model")
    elif more and shown:
        print(f"{more:,} more without a key, deprecated or not for chat: {again}")
    elif more:
        print(f"No provider of the {more:,} matching models is set up. Set one up: halo login. To list them: {again}")


def _matches_words(model: OfferedModel, words: Sequence[str]) -> bool:
    names = f"{model.name} {model.title}".lower()
    return all(word in names for word in words)


def _model_row(model: OfferedModel) -> tuple[str, ...]:
    costs = (
        _format_price(model.input, model.long_from),
        _format_price(model.output, model.long_from),
        _format_price(model.cache_read, None),
    )
    return (
        clean(model.name),
        _format_size(model.window),
        _format_size(model.max_output),
        *costs,
        _list_abilities(model),
    )


def _list_abilities(model: OfferedModel) -> str:
    able = {"tools": model.tools, "images": model.images, "thinking": model.thinking}
    can = " ".join(name for name, has in able.items() if has)
    return f"{can} (deprecated)" if model.leaving else can


def _format_size(tokens: int | None) -> str:
    return format_count(tokens) if tokens else "–"


def _format_price(dollars: float | None, long_from: int | None) -> str:
    return "–" if dollars is None else f"{dollars:g}{'+' if long_from else ''}"
