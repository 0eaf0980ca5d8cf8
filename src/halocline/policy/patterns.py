"""Patterns in `.gitignore` syntax."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


def matches_any(lines: tuple[str, ...], path: str) -> bool:
    """Return True if `.gitignore` patterns match a path, relative to their folder. The path may be a folder."""
    spec = _build_spec(lines)
    return spec.match_file(path) or spec.match_file(f"{path}/")


def find_match(lines: tuple[str, ...], path: str) -> bool | None:
    """Return True if the last pattern that matches a path ignores it, False if it does not; None if none matches.

    The path of a folder ends in a slash.
    """
    return _build_spec(lines).check_file(path).include if lines else None


@cache
def _build_spec(lines: tuple[str, ...]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec  # most people have neither rules for paths nor ignore files

    return GitIgnoreSpec.from_lines(lines)
