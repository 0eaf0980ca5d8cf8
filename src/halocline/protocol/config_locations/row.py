"""One location of a file or folder that configures Halocline: where it is, whose format it has and what it holds."""

from typing import Literal

from halocline.protocol.values import Value

Owner = Literal["managed", "person", "project"]
"""Owner of a rule file, in the order of the prompt."""
Dialect = Literal[
    "plain",
    "cline",
    "claude",
    "cursor",
    "copilot",
    "windsurf",
    "kiro",
    "continue",
    "augment",
    "opencode",
    "aider",
    "gemini",
    "codex",
    "vscode",
    "zed",
    "goose",
]
"""Format of a file: of a rule's front matter, of a command, of an agent or of a list of servers."""
Holds = Literal[
    "rules",
    "names of rules",
    "skills",
    "agents",
    "workflows",
    "commands",
    "hooks",
    "hook settings",
    "plug-ins",
    "servers",
]
"""Content of a location. `names of rules`: settings that name rule files."""
Root = Literal["/etc/halocline", "~/.halocline", "~", ""]
"""Folder that a location is relative to; empty: the project. Not an enum, because every start imports this module."""
MARKDOWN = (".md", ".markdown", ".mdc", ".txt")


class Row(Value, frozen=True):
    """One location. With `endings`, it may be a folder, which is read recursively.

    `program` is the one that defined it, `since` its first version that reads it, as far as its release notes say so.
    """

    root: Root
    path: str
    program: str
    dialect: Dialect = "plain"
    endings: tuple[str, ...] = ()
    holds: Holds = "rules"
    since: str = ""
    imports: bool = False
    """True if `@path` in the file includes another file."""
    nested: bool = False
    """True if it also applies in any folder of the project, and above it, for that folder."""
    stands_for: str = ""
    """Name of the file beside it that it replaces."""
    imported: bool = False
    """True if it is not read in place, but copied on request: `halo import mcp`."""

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
        """The location for display."""
        return f"{self.root}/{self.path}" if self.root else self.path
