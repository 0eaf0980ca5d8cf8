"""Two lists that are tried together: one with the other in turn, or each with each, as `make test-all` does."""

from collections.abc import Callable, Iterable, Sequence
from itertools import cycle, product
from typing import Any

import pytest
from tests.samples import SAMPLED

Pair = Callable[[Sequence[Any], Sequence[Any]], Iterable[tuple[Any, Any]]]


def in_turn(longer: Sequence[Any], shorter: Sequence[Any]) -> Iterable[tuple[Any, Any]]:
    """Each of the longer list with one of the shorter, so each of the shorter with many of the longer."""
    assert len(longer) >= len(shorter)
    return zip(longer, cycle(shorter), strict=False)


def each_with_each(longer: Sequence[Any], shorter: Sequence[Any]) -> list[tuple[Any, Any]]:
    """For cases that are tests of their own; in a sample, one with the other in turn."""
    return list(in_turn(longer, shorter) if SAMPLED else product(longer, shorter))


both_pairings = pytest.mark.parametrize("pair", [in_turn, product], ids=["in-turn", "all-with-all"])
"""`tests/full.txt` names the test with `[all-with-all`."""
