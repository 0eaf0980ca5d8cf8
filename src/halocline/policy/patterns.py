"""Patterns as in `.gitignore`."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def matches_any(lines: tuple[str, ...], path: str) -> bool:
    """Whether patterns as in `.gitignore` speak of a path, relative to where they are seen from. A folder fits too."""
    spec = _build_spec(lines)
    return spec.match_file(path) or spec.match_file(f"{path}/")


@cache
def _build_spec(lines: tuple[str, ...]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # most people have neither rules for paths nor ignore files

    return GitIgnoreSpec.from_lines(lines)
