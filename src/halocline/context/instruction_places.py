"""Where rules lie: one list, from which they are read, listed and documented. What must stay true: a folder without
any rules costs a `stat` for each row and nothing else.
"""

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from halocline.protocol.values import Value


class Owner(StrEnum):
    """Whose rules they are; the later come later in the prompt."""

    MANAGED = "managed"
    PERSON = "person"
    PROJECT = "project"


class Dialect(StrEnum):
    """What the front matter of a file means."""

    PLAIN = "plain"
    CLINE = "cline"
    CLAUDE = "claude"
    CURSOR = "cursor"
    COPILOT = "copilot"
    WINDSURF = "windsurf"


class Root(StrEnum):
    """What a place is below."""

    MANAGED = "/etc/halocline"
    HALOCLINE = "~/.halocline"
    HOME = "~"
    PROJECT = ""


MARKDOWN = (".md", ".markdown", ".mdc", ".txt")


class Row(Value, frozen=True):
    """One place. With `endings` it may be a folder, which is read with all that is below it."""

    root: Root
    path: str
    dialect: Dialect = Dialect.PLAIN
    endings: tuple[str, ...] = ()
    imports: bool = False
    """Whether `@path` in it means another file."""

    @property
    def owner(self) -> Owner:
        owners = {Root.MANAGED: Owner.MANAGED, Root.PROJECT: Owner.PROJECT}
        return owners.get(self.root, Owner.PERSON)

    @property
    def shown(self) -> str:
        """The place as people write it."""
        return f"{self.root}/{self.path}".lstrip("/") if self.root is Root.PROJECT else f"{self.root}/{self.path}"


ROWS = (
    Row(Root.MANAGED, "AGENTS.md", imports=True),
    Row(Root.MANAGED, "rules", Dialect.CLINE, MARKDOWN),
    Row(Root.HALOCLINE, "AGENTS.md", imports=True),
    Row(Root.HALOCLINE, "rules", Dialect.CLINE, MARKDOWN),
    Row(Root.HOME, ".agents/AGENTS.md", imports=True),
    Row(Root.HOME, ".config/AGENTS.md", imports=True),
    Row(Root.HOME, ".claude/CLAUDE.md", imports=True),
    Row(Root.HOME, ".claude/rules", Dialect.CLAUDE, (".md",), imports=True),
    Row(Root.HOME, ".cline/rules", Dialect.CLINE, MARKDOWN),
    Row(Root.HOME, "Documents/Cline/Rules", Dialect.CLINE, MARKDOWN),
    Row(Root.HOME, "Cline/Rules", Dialect.CLINE, MARKDOWN),
    Row(Root.PROJECT, "AGENTS.md", imports=True),
    Row(Root.PROJECT, "CLAUDE.md", imports=True),
    Row(Root.PROJECT, ".claude/CLAUDE.md", imports=True),
    Row(Root.PROJECT, ".claude/rules", Dialect.CLAUDE, (".md",), imports=True),
    Row(Root.PROJECT, ".halocline/rules", Dialect.CLINE, MARKDOWN),
    Row(Root.PROJECT, ".clinerules", Dialect.CLINE, MARKDOWN),
    Row(Root.PROJECT, ".cline/rules", Dialect.CLINE, MARKDOWN),
    Row(Root.PROJECT, ".cursorrules"),
    Row(Root.PROJECT, ".cursor/rules", Dialect.CURSOR, (".mdc", ".md")),
    Row(Root.PROJECT, ".windsurfrules"),
    Row(Root.PROJECT, ".windsurf/rules", Dialect.WINDSURF, (".md",)),
    Row(Root.PROJECT, ".github/copilot-instructions.md"),
    Row(Root.PROJECT, ".github/instructions", Dialect.COPILOT, (".instructions.md",)),
    Row(Root.PROJECT, "AGENTS.local.md", imports=True),
    Row(Root.PROJECT, "CLAUDE.local.md", imports=True),
)
"""In the order in which the model reads them: what is more particular comes later."""
NESTED = ("AGENTS.md", "CLAUDE.md")
"""Files that hold for the folder that they are in, wherever in the project that is."""
OTHER_THINGS = frozenset({"workflows", "hooks", "skills"})
"""Folders among rules whose files are no rules."""


class Roots(Value, frozen=True):
    """The folders that the rows are below; None: there is no such folder here."""

    workspace: Path
    halocline: Path | None = None
    home: Path | None = None
    managed: Path | None = None

    def of(self, root: Root) -> Path | None:
        match root:
            case Root.MANAGED:
                return self.managed
            case Root.HALOCLINE:
                return self.halocline
            case Root.HOME:
                return self.home
            case Root.PROJECT:
                return self.workspace

    def path(self, row: Row) -> Path | None:
        """Where a row is on this machine."""
        folder = self.of(row.root)
        return folder / row.path if folder else None

    def shown(self, path: str) -> str:
        """A path as people and the model read it: from the workspace, or from the home folder."""
        for folder, sign in ((self.workspace, ""), (self.home, "~/")):
            if folder and path.startswith(f"{folder}/"):
                return sign + path[len(f"{folder}/") :]
        return path


def present(roots: Roots) -> Iterator[tuple[Row, Path]]:
    """The rows for which something is there."""
    for row in ROWS:
        path = roots.path(row)
        if path and os.path.exists(path):
            yield row, path
