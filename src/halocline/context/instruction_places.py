"""Where rules lie on this machine, by the rows of `protocol/obeyed.py`. What must stay true: a folder without any rules
costs a `stat` for each row and nothing else.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from halocline.protocol.obeyed import NESTED, RULE_ROWS, Root, Row
from halocline.protocol.values import Value

FIRST_OF_PROJECT = next(row for row in RULE_ROWS if not row.root)
OTHER_THINGS = frozenset({"workflows", "hooks", "skills"})
"""Folders among rules whose files are no rules."""


class Roots(Value, frozen=True):
    """The folders that the rows are below; None: there is no such folder here.

    `top` is the folder of the repository when that begins above the workspace.
    """

    workspace: Path
    halocline: Path | None = None
    home: Path | None = None
    managed: Path | None = None
    top: Path | None = None

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
        """A path as people and the model read it: from the workspace, or from the home folder."""
        if self.top and path.startswith(f"{self.top}/"):
            return os.path.relpath(path, self.workspace)
        for folder, sign in ((self.workspace, ""), (self.home, "~/")):
            if folder and path.startswith(f"{folder}/"):
                return sign + path[len(f"{folder}/") :]
        return path


def present(roots: Roots) -> Iterator[tuple[Row, Path]]:
    """The rows for which something is there."""
    for row in RULE_ROWS:
        if row is FIRST_OF_PROJECT:
            yield from _above(roots)
        folder = roots.of(row.root)
        if folder and os.path.exists(f"{folder}/{row.path}"):
            yield row, folder / row.path


def _above(roots: Roots) -> Iterator[tuple[Row, Path]]:
    for folder in roots.above:
        for name in NESTED:
            if os.path.exists(folder / name):
                yield Row("", name, imports=True), folder / name
