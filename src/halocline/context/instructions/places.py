"""Where rules lie on this machine, by the rows of `protocol/config_locations.py`. What must stay true: a folder without
any rules costs a `stat` for each row and nothing else.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from halocline.protocol.config_locations import NESTED, RULE_ROWS, Root, Row
from halocline.protocol.file_names import make_printable
from halocline.protocol.values import Value

FIRST_OF_PROJECT = next(row for row in RULE_ROWS if not row.root)
OTHER_THINGS = frozenset({"workflows", "hooks", "skills"})
"""Folders among rules whose files are no rules."""


class Roots(Value, frozen=True):
    """The folders that the rows are below; None: there is no such folder here.

    `top` is the folder of the repository when that begins above the workspace. `prefix` stands before what is in the
    workspace, when that is not the task's first folder.
    """

    workspace: Path
    halocline: Path | None = None
    home: Path | None = None
    managed: Path | None = None
    top: Path | None = None
    prefix: str = ""

    @property
    def project(self) -> Path:
        """What a file of the project may not lead out of."""
        return self.top or self.workspace

    @property
    def above(self) -> tuple[Path, ...]:
        """The folders from the repository's down to the workspace, without that."""
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
        """Where a row is on this machine."""
        folder = self.of(row.root)
        return folder / row.path if folder else None

    def shown(self, path: str) -> str:
        """A path as people and the model read it, on one line: from the workspace, or from the home folder."""
        return make_printable(self._relative(path))

    def _relative(self, path: str) -> str:
        if self.top and path.startswith(f"{self.top}/"):
            return os.path.relpath(path, self.workspace)
        for folder, sign in ((self.workspace, self.prefix), (self.home, "~/")):
            if folder and path.startswith(f"{folder}/"):
                return sign + path[len(f"{folder}/") :]
        return path


def present_rows(roots: Roots) -> Iterator[tuple[Row, Path]]:
    """The rows for which something is there."""
    return ((row, Path(path)) for row, path in _all_rows(roots) if os.path.exists(path))


def list_places(roots: Roots) -> tuple[str, ...]:
    """Where the rows are on this machine, something there or not."""
    return tuple(path for _, path in _all_rows(roots))


def _all_rows(roots: Roots) -> Iterator[tuple[Row, str]]:
    for row in RULE_ROWS:
        if row is FIRST_OF_PROJECT:
            yield from ((Row("", name, imports=True), f"{folder}/{name}") for folder in roots.above for name in NESTED)
        if folder := roots.of(row.root):
            yield row, f"{folder}/{row.path}"
