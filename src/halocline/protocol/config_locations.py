"""Locations of files that configure Halocline: rules, slash commands, skills, hooks, servers. The only list of them.

`context` and `store` read and list them from here, the docs are generated from it, and the gate and the sandbox use it
to protect these files: a model may not change them without approval. A location added here is protected.
"""

from typing import Literal

from halocline.protocol.values import Value

Owner = Literal["managed", "person", "project"]
"""Owner of a rule file, in the order of the prompt."""
Dialect = Literal["plain", "cline", "claude", "cursor", "copilot", "windsurf"]
"""Dialect of a file's front matter; plain: no front matter."""
Root = Literal["/etc/halocline", "~/.halocline", "~", ""]
"""Folder that a location is relative to; empty: the project. Not an enum, because every start imports this module."""
MARKDOWN = (".md", ".markdown", ".mdc", ".txt")


class Row(Value, frozen=True):
    """One location. With `endings`, it may be a folder, which is read recursively."""

    root: Root
    path: str
    dialect: Dialect = "plain"
    endings: tuple[str, ...] = ()
    imports: bool = False
    """True if `@path` in the file includes another file."""

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


RULE_ROWS = (
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
"""In the order in which the model reads them: more specific ones later."""
NESTED = ("AGENTS.md", "CLAUDE.md")
"""Files that apply to their own folder, anywhere in the project; also above it, up to the root of the repository."""

HOOK_FOLDERS = (".clinerules/hooks", ".cline/hooks", ".halocline/hooks")
HOOK_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
"""Hooks of a project."""
OWN_HOOK_FOLDERS = ("Documents/Cline/Hooks", ".cline/hooks")
OWN_HOOK_SETTINGS = (".claude/settings.json",)
"""Hooks of a person, below their home folder."""
PROJECT_MCP = (".halocline/mcp.json", ".mcp.json")
"""MCP servers of a project; the first file that defines a server wins."""
PROJECT_SKILLS = (".halocline/skills", ".clinerules/skills", ".cline/skills", ".claude/skills", ".agents/skills")
OWN_SKILLS = (".cline/skills", ".claude/skills", ".agents/skills")
"""Skills, in the workspace and in the home folder; the first of a name wins."""
PROJECT_AGENTS = (".halocline/agents", ".claude/agents", ".cline/agents")
OWN_AGENTS = (".claude/agents", ".cline/agents")
"""Agents, in the workspace and, after Halocline's own folder for them, in the home folder."""
AGENT_ENDINGS = (".md", ".yaml", ".yml")
PROJECT_WORDS = (
    ("workflow", ".halocline/workflows"),
    ("workflow", ".clinerules/workflows"),
    ("command", ".halocline/commands"),
    ("command", ".claude/commands"),
    ("command", ".cursor/commands"),
    ("command", ".opencode/commands"),
    ("command", ".opencode/command"),
)
OWN_WORDS = (
    ("workflow", "Documents/Cline/Workflows"),
    ("workflow", "Cline/Workflows"),
    ("command", ".claude/commands"),
    ("command", ".cursor/commands"),
    ("command", ".config/opencode/commands"),
    ("command", ".config/opencode/command"),
)
"""Workflows and commands, in the workspace and in the home folder; the first of a name wins."""

OBEYED = tuple(
    dict.fromkeys(
        (
            *(row.path for row in RULE_ROWS if not row.root),
            *(*HOOK_FOLDERS, *HOOK_SETTINGS, *PROJECT_MCP, *PROJECT_SKILLS, *PROJECT_AGENTS),
            *(place for _, place in PROJECT_WORDS),
        )
    )
)
"""All locations in a project, relative to its folder."""
OBEYED_AT_HOME = tuple(
    dict.fromkeys(
        (
            *(row.path for row in RULE_ROWS if row.root == "~"),
            *(*OWN_HOOK_FOLDERS, *OWN_HOOK_SETTINGS, *OWN_SKILLS, *OWN_AGENTS),
            *(place for _, place in OWN_WORDS),
        )
    )
)
"""All locations relative to the home folder, which may itself be the workspace."""
