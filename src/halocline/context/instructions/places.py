"""Places of rules on this machine, from the rows of `protocol/config_locations.py`.

What must stay true: a folder without any rules costs one `stat` for each row and nothing else.
"""

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from halocline.protocol.config_locations import NESTED_ROWS, RULE_ROWS, Root, Row
from halocline.protocol.file_names import make_printable
from halocline.protocol.values import Value

FIRST_OF_PROJECT = next(row for row in RULE_ROWS if not row.root)
OTHER_THINGS = frozenset({"workflows", "hooks", "skills"})
"""Subfolders of rules folders whose files are not rules."""


class Roots(Value, frozen=True):
    """Folders that the rows are relative to; None if there is no such folder.

    `top` is the repository's folder if that is above the workspace. `prefix` is put before paths in the workspace if
    that is not the task's first folder.
    """

    workspace: Path
    halocline: Path | None = None
    home: Path | None = None
    managed: Path | None = None
    top: Path | None = None
    prefix: str = ""

    @property
    def project(self) -> Path:
        """The folder that a file of the project must not lead out of."""
        return self.top or self.workspace

    @property
    def above(self) -> tuple[Path, ...]:
        """The folders from the repository down to the workspace, without the workspace."""
        parents = self.workspace.parents
        return tuple(reversed(parents[: parents.index(self.top) + 1])) if self.top in parents else ()

    def of(self, root: Root) -> Path | None:
        match root:
            case "/etc/halocline":
                return self.managed
            case "~/.halocline":
                return self.halocline
            case "~":
                return self.home
            case "":
                return self.workspace

    def path(self, row: Row) -> Path | None:
        """Return the path of a row on this machine."""
        folder = self.of(row.root)
        return folder / row.path if folder else None

    def shown(self, path: str) -> str:
        """Return the path for display, on one line: relative to the workspace or to the home folder."""
        return make_printable(self._relative(path))

    def _relative(self, path: str) -> str:
        if self.top and path.startswith(f"{self.top}/"):
            return os.path.relpath(path, self.workspace)
        for folder, sign in ((self.workspace, self.prefix), (self.home, "~/")):
            if folder and path.startswith(f"{folder}/"):
                return sign + path[len(f"{folder}/") :]
        return path


def present_rows(roots: Roots) -> Iterator[tuple[Row, Path]]:
    """Return the rows whose path exists."""
    return ((row, Path(path)) for row, path in _all_rows(roots) if os.path.exists(path))


def list_places(roots: Roots) -> tuple[str, ...]:
    """Return the paths of all rows, existing or not."""
    return tuple(path for _, path in _all_rows(roots))


def _all_rows(roots: Roots) -> Iterator[tuple[Row, str]]:
    for row in RULE_ROWS:
        if row is FIRST_OF_PROJECT:
            above = (one for one in NESTED_ROWS if not one.endings)
            yield from ((one, f"{folder}/{one.path}") for folder, one in product(roots.above, above))
        if folder := roots.of(row.root):
            yield row, f"{folder}/{row.path}"
