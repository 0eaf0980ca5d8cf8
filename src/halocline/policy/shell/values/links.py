"""The links that a text makes, and where paths lead through them: as many of each as can be followed in time."""

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice

from halocline.policy.shell.values.name_patterns import GLOB

_MOST_BEHIND, _NEAREST, _MOST_LINKS, _MOST_PATHS = 60, 3, 64, 1_000
"""Places behind one path, of which so many are followed at once; links of a text; and paths through them."""


class Links:
    """Pairs of a link's path and its target. `are_lost`: they, or the paths through them, are too many to follow."""

    def __init__(self) -> None:
        self.pairs: dict[tuple[str, str], None] = {}
        self.are_lost = False
        self._behind: dict[tuple[str, int], tuple[str, ...]] = {}

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.pairs.update(dict.fromkeys(islice(pairs, max(0, _MOST_LINKS + 1 - len(self.pairs)))))
        self.are_lost |= len(self.pairs) > _MOST_LINKS

    def follow(self, path: str) -> tuple[str, ...]:
        """Return where a path or a pattern leads through the links, and through those behind them; itself first."""
        key = path, len(self.pairs)
        if self.pairs and key not in self._behind:
            self.are_lost |= len(self._behind) >= _MOST_PATHS
            self._behind[key] = () if self.are_lost else tuple(self._find_behind(path))
        return self._behind.get(key, ())

    def _find_behind(self, path: str) -> dict[str, None]:
        found = {path: None, os.path.normpath(path): None}
        newest = [*found]
        while newest and len(found) < _MOST_BEHIND:
            led = [one for each in sorted(newest, key=len)[:_NEAREST] for one in self._lead_through(each)]
            newest = [one for one in dict.fromkeys((*led, *map(os.path.normpath, led))) if one not in found]
            found |= dict.fromkeys(newest)
        return found

    def _lead_through(self, path: str) -> Iterator[str]:
        parts = path.split("/")
        begins = {depth: "/".join(parts[:depth]) for depth in range(len(parts) + 1)}
        globs = {depth for depth, begin in begins.items() if GLOB.search(begin)}
        for link, target in self.pairs:
            depth = link.count("/") + 1
            if link == begins.get(depth, path) or (depth in globs and fnmatchcase(link, begins[depth])):
                yield "/".join((target, *parts[depth:]))
