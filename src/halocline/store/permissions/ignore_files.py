"""Reads a workspace's ignore files (`.haloclineignore` and the like), and the files that they include."""

import os
from collections.abc import Iterator
from pathlib import Path

from halocline.protocol.permission_rules import IGNORE_FILES
from halocline.store.permissions.rules import Unreadable, read_text

_MOST_INCLUDES = 20
_INCLUDE = "!include "


def read_ignored(workspace: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return the files that the workspace's ignore files include, and the lines of all files. Raises Unreadable."""
    included: list[Path] = []
    lines = [line for name in IGNORE_FILES for line in _read_lines(workspace / name, workspace, included)]
    return tuple(included), tuple(lines)


def _read_lines(path: Path, workspace: Path, included: list[Path]) -> Iterator[str]:
    for line in (read_text(path) or "").splitlines():
        if not line.startswith(_INCLUDE):
            if line.strip() and not line.startswith("#"):
                yield line
            continue
        other = Path(os.path.realpath(path.parent / line.removeprefix(_INCLUDE).strip()))
        if not other.is_relative_to(os.path.realpath(workspace)):
            raise Unreadable(f"{path} includes {other}, which is outside the workspace.")
        if other in included:
            continue
        if len(included) == _MOST_INCLUDES:
            raise Unreadable(f"{path} includes more than {_MOST_INCLUDES} files.")
        included.append(other)
        yield from _read_lines(other, workspace, included)
