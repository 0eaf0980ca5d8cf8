"""Counts what a regular expression of a pattern tries on a text, as `re` tries it: in order, and back again."""

import re
from collections.abc import Iterator
from typing import Any

PARSER = re._parser  # type: ignore[attr-defined]


class CountedMatch:
    """A match from the beginning of a text; `steps` are the comparisons that it took. Ends at `most`."""

    def __init__(self, expression: str, text: str, most: int = 10_000_000) -> None:
        self._text, self._most = text, most
        self.steps = 0
        self.end = next(self._match([*PARSER.parse(expression)], 0), None)

    def _match(self, items: list[Any], at: int) -> Iterator[int]:
        if not items:
            yield at
            return
        for end in self._match_one(*items[0], at):
            yield from self._match(items[1:], end)

    def _match_one(self, kind: Any, given: Any, at: int) -> Iterator[int]:
        self._count()
        match str(kind):
            case "AT":
                is_there = at == 0 if str(given) == "AT_BEGINNING" else self._text[at:] in ("", "\n")
                yield from [at] if is_there else []
            case "SUBPATTERN":
                yield from self._match([*given[3]], at)
            case "BRANCH":
                for choice in given[1]:
                    yield from self._match([*choice], at)
            case "ATOMIC_GROUP":
                yield from [] if (end := next(self._match([*given], at), None)) is None else [end]
            case "ASSERT":
                yield from [at] if next(self._match([*given[1]], at), None) is not None else []
            case "MAX_REPEAT" if given[1] == 1:
                yield from self._match([*given[2]], at)
                yield at
            case "MIN_REPEAT" if given[1] == 1:
                yield at
                yield from self._match([*given[2]], at)
            case "MAX_REPEAT":
                yield from [*self._repeat(*given, at)][::-1]
            case "MIN_REPEAT":
                yield from self._repeat(*given, at)
            case _:
                yield from [at + 1] if at < len(self._text) and _fits(kind, given, self._text[at]) else []

    def _repeat(self, least: int, most: Any, item: Any, at: int) -> Iterator[int]:
        """Yield where repetitions of one character end, the fewest first."""
        count = 0
        while True:
            if count >= least:
                yield at
            if count == most or (found := next(self._match([*item], at), None)) is None:
                return
            count, at = count + 1, found

    def _count(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise TimeoutError(f"over {self._most:,} steps")


def _fits(kind: Any, given: Any, char: str) -> bool:
    match str(kind):
        case "ANY":
            return char != "\n"
        case "LITERAL":
            return ord(char) == given
        case "NOT_LITERAL":
            return ord(char) != given
        case "RANGE":
            return given[0] <= ord(char) <= given[1]
        case "IN":
            kinds = [one for one in given if str(one[0]) != "NEGATE"]
            return any(_fits(*one, char) for one in kinds) is (len(kinds) == len(given))
    raise NotImplementedError(kind)
