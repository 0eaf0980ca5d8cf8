"""Random keys below random cards. `KEYS=20000 SEEDS=5 python -m pytest …` types more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.samples import choose
from tests.surfaces.cli.live.random_keys import ESCAPE, Key, Seen, why_blind

from halocline.surfaces.terminal.asking.menu import Kind

KEYS = int(os.environ.get("KEYS", choose(2000, 500)))
SEEDS = int(os.environ.get("SEEDS", choose(2, 1)))
LAUNCH = """
import sys
from tests.surfaces.cli.live import virtual_time
virtual_time.begin()
from tests.surfaces.cli.live import random_keys
sys.exit(random_keys.main(int(sys.argv[1]), int(sys.argv[2])))
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_keys_decide_nothing_blind_and_lose_nothing_and_no_row_is_doubled(seed: int) -> None:
    variables = os.environ | {"TERM": "xterm-256color", "EDITOR": "true", "VISUAL": "true"}
    done = subprocess.run(
        [sys.executable, "-c", LAUNCH, str(seed), str(KEYS)],
        env=variables,
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


CARD = Seen(10.0, {"y": "allow", "n": "reject", ESCAPE: "stop"}, Kind.ORDINARY, by_person=False)


def key(at: float, name: str, text: str = "", selected: str = "y") -> Key:
    return Key(at, name, text, False, False, selected)


@pytest.mark.parametrize(
    ("keys", "answer", "at", "why"),
    [
        ([], "y", 11, "no key"),
        ([key(9.9, "y")], "y", 11, "no key"),
        ([key(10.8, "y")], "y", 11.1, ""),
        ([key(10.8, "y")], "n", 11.1, "the key is of 'y'"),
        ([key(10.8, "y")], "y", 10.9, "it was not alone"),
        ([key(10.2, "y")], "y", 10.5, "it came too early"),
        ([key(10.2, "y")], "y", 11.0, ""),
        ([key(10.8, "y", "wh")], "y", 11.1, "it is text behind text"),
        ([key(10.8, "enter")], "y", 10.8, ""),
        ([key(10.2, "enter")], "y", 10.2, "Enter came too early"),
        ([key(10.8, "down"), key(10.9, "enter", selected="n")], "n", 10.9, ""),
        ([key(10.8, "y"), key(10.9, "enter", "y")], "y", 10.9, ""),
        ([key(9.9, "y"), key(10.9, "enter", "y")], "y", 10.9, "the line was begun before the card was seen"),
        ([key(10.1, "esc")], ESCAPE, 10.1, ""),
        ([key(10.1, "esc")], "y", 10.1, "Escape allowed something"),
    ],
)
def test_the_judge_of_random_keys_knows_what_is_blind(keys: list[Key], answer: str, at: float, why: str) -> None:
    assert why_blind(CARD, keys, answer, at) == why
