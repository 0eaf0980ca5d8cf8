"""Where rules lie: one list, from which they are read, listed and documented. What must stay true: a folder without
any rules costs a `stat` for each row and nothing else.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from halocline.protocol.values import Value

Owner = Literal["managed", "person", "project"]
"""Whose rules they are; the later come later in the prompt."""
Dialect = Literal["plain", "cline", "claude", "cursor", "copilot", "windsurf"]
"""What the front matter of a file means; plain: it has none."""
Root = Literal["/etc/halocline", "~/.halocline", "~", ""]
"""What a place is below; empty: the project. These are no enumerations, as every start imports this."""
MARKDOWN = (".md", ".markdown", ".mdc", ".txt")


class Row(Value, frozen=True):
    """One place. With `endings` it may be a folder, which is read with all that is below it."""

    root: Root
    path: str
    dialect: Dialect = "plain"
    endings: tuple[str, ...] = ()
    imports: bool = False
    """Whether `@path` in it means another file."""

    @property
    def owner(self) -> Owner:
        match self.root:
            case "/etc/halocline":
                return "managed"
            case "":
                return "project"
        return "person"

    @property
    def shown(self) -> str:
        """The place as people write it."""
        return f"{self.root}/{self.path}" if self.root else self.path


ROWS = (
    Row("/etc/halocline", "AGENTS.md", imports=True),
    Row("/etc/halocline", "rules", "cline", MARKDOWN),
    Row("~/.halocline", "AGENTS.md", imports=True),
    Row("~/.halocline", "rules", "cline", MARKDOWN),
    Row("~", ".agents/AGENTS.md", imports=True),
    Row("~", ".config/AGENTS.md", imports=True),
    Row("~", ".claude/CLAUDE.md", imports=True),
    Row("~", ".claude/rules", "claude", (".md",), imports=True),
    Row("~", ".cline/rules", "cline", MARKDOWN),
    Row("~", "Documents/Cline/Rules", "cline", MARKDOWN),
    Row("~", "Cline/Rules", "cline", MARKDOWN),
    Row("", "AGENTS.md", imports=True),
    Row("", "CLAUDE.md", imports=True),
    Row("", ".claude/CLAUDE.md", imports=True),
    Row("", ".claude/rules", "claude", (".md",), imports=True),
    Row("", ".halocline/rules", "cline", MARKDOWN),
    Row("", ".clinerules", "cline", MARKDOWN),
    Row("", ".cline/rules", "cline", MARKDOWN),
    Row("", ".cursorrules"),
    Row("", ".cursor/rules", "cursor", (".mdc", ".md")),
    Row("", ".windsurfrules"),
    Row("", ".windsurf/rules", "windsurf", (".md",)),
    Row("", ".roorules"),
    Row("", ".roo/rules", "plain", MARKDOWN),
    Row("", ".goosehints"),
    Row("", "GEMINI.md", imports=True),
    Row("", "QWEN.md", imports=True),
    Row("", ".github/copilot-instructions.md"),
    Row("", ".github/instructions", "copilot", (".instructions.md",)),
    Row("", "AGENTS.local.md", imports=True),
    Row("", "CLAUDE.local.md", imports=True),
)
"""In the order in which the model reads them: what is more particular comes later."""
FIRST_OF_PROJECT = next(row for row in ROWS if not row.root)
NESTED = ("AGENTS.md", "CLAUDE.md")
"""Files that hold for the folder that they are in, wherever in the project that is; above it up to the repository's."""
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
    return ((row, Path(path)) for row, path in _all(roots) if os.path.exists(path))


def places(roots: Roots) -> tuple[str, ...]:
    """Where the rows are on this machine, something there or not."""
    return tuple(path for _, path in _all(roots))


def _all(roots: Roots) -> Iterator[tuple[Row, str]]:
    for row in ROWS:
        if row is FIRST_OF_PROJECT:
            yield from ((Row("", name, imports=True), f"{folder}/{name}") for folder in roots.above for name in NESTED)
        if folder := roots.of(row.root):
            yield row, f"{folder}/{row.path}"
