"""How long the composer's menu takes for one key behind an `@`, over 20,000 files. CPU time; no floor."""

import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

from benchmarks.figures import Figure

FILES = 20_000
WORDS = (
    "core",
    "util",
    "parse",
    "model",
    "view",
    "test",
    "index",
    "config",
    "server",
    "client",
    "event",
    "tool",
    "store",
)
TYPED = ("", "c", "co", "conf", "config", "tcfg", "server/cl", "xyzzy")
_TIMES = 9


def paths(number: int = FILES) -> tuple[str, ...]:
    """Names as projects have them, in folders up to five deep."""
    chance = random.Random(5)
    folders = ("/".join(chance.choices(WORDS, k=chance.randint(1, 5))) for _ in range(number))
    return tuple(f"{folder}/{chance.choice(WORDS)}_{at}.py" for at, folder in enumerate(folders))


def figures(rounds: int) -> list[Figure]:
    """The slowest of eight beginnings, and making the list ready."""
    from halocline.runtime.mentions.suggestions import Mentionable
    from halocline.surfaces.terminal.composing.completion import Known

    found = Mentionable(paths())
    ready = median(_timed(lambda: Known(found)) for _ in range(rounds))
    known = Known(found)
    worst = max(_middle(partial(known.fitting, typed)) for typed in TYPED)
    return [
        Figure("menu", "the menu for a key behind an @, 20,000 files, ms", None, worst),
        Figure("menu_ready", "… making the list ready, ms", None, ready),
    ]


def _middle(ask: Callable[[], Iterator[object]]) -> float:
    return median(_timed(lambda: list(ask())) for _ in range(_TIMES))


def _timed(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return (time.process_time() - began) * 1e3
