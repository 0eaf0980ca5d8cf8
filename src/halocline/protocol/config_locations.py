"""Where files lie that steer Halocline: rules, words, skills, hooks, servers. The one list of their names.

From it they are read, listed and documented (`context`, `store`), and by it the gate and the sandbox know what a model
may not change unasked: who adds a place here has it guarded.
"""

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
"""In the order in which the model reads them: what is more particular comes later."""
NESTED = ("AGENTS.md", "CLAUDE.md")
"""Files that hold for the folder that they are in, wherever in the project that is; above it up to the repository's."""

HOOK_FOLDERS = (".clinerules/hooks", ".cline/hooks", ".halocline/hooks")
HOOK_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
"""Where a project has hooks."""
OWN_HOOK_FOLDERS = ("Documents/Cline/Hooks", ".cline/hooks")
OWN_HOOK_SETTINGS = (".claude/settings.json",)
"""Where a person has hooks, below their home folder."""
PROJECT_MCP = (".halocline/mcp.json", ".mcp.json")
"""Where a project names MCP servers; the first that names one holds."""
PROJECT_SKILLS = (".halocline/skills", ".clinerules/skills", ".cline/skills", ".claude/skills", ".agents/skills")
OWN_SKILLS = (".cline/skills", ".claude/skills", ".agents/skills")
"""Where skills are looked for, in the workspace and in the home folder; of one name the first is taken."""
PROJECT_AGENTS = (".halocline/agents", ".claude/agents", ".cline/agents")
OWN_AGENTS = (".claude/agents", ".cline/agents")
"""Where agents are described, in the workspace and, behind Halocline's own folder for them, in the home folder."""
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
"""Where workflows and commands are looked for, in the workspace and at home; of a name the first counts."""

OBEYED = tuple(
    dict.fromkeys(
        (
            *(row.path for row in RULE_ROWS if not row.root),
            *(*HOOK_FOLDERS, *HOOK_SETTINGS, *PROJECT_MCP, *PROJECT_SKILLS, *PROJECT_AGENTS),
            *(place for _, place in PROJECT_WORDS),
        )
    )
)
"""All of a project's, below its folder."""
OBEYED_AT_HOME = tuple(
    dict.fromkeys(
        (
            *(row.path for row in RULE_ROWS if row.root == "~"),
            *(*OWN_HOOK_FOLDERS, *OWN_HOOK_SETTINGS, *OWN_SKILLS, *OWN_AGENTS),
            *(place for _, place in OWN_WORDS),
        )
    )
)
"""All of a person's, below their home folder: somebody may work in that."""
