"""Locations of files that configure Halocline: rules, slash commands, skills, hooks, servers. The only list of them.

`context`, `store` and `importers` read them from here, the docs are generated from it, and the gate and the sandbox use
it to protect these files: a model may not change them without approval. A location added here is protected.
"""

from halocline.protocol.config_locations.extensions import (
    AGENT_ROWS as AGENT_ROWS,
    COMMAND_ROWS as COMMAND_ROWS,
    HOOK_ROWS as HOOK_ROWS,
    PLUGIN_COPIES as PLUGIN_COPIES,
    PLUGIN_ROWS as PLUGIN_ROWS,
    SERVER_ROWS as SERVER_ROWS,
    SKILL_ROWS as SKILL_ROWS,
)
from halocline.protocol.config_locations.row import (
    MARKDOWN as MARKDOWN,
    Dialect as Dialect,
    Holds as Holds,
    Owner as Owner,
    Root as Root,
    Row as Row,
)
from halocline.protocol.config_locations.rules import RULE_ROWS as RULE_ROWS

LOCATIONS = (*RULE_ROWS, *SKILL_ROWS, *AGENT_ROWS, *COMMAND_ROWS, *HOOK_ROWS, *PLUGIN_ROWS, *SERVER_ROWS)
"""Every location; a file that holds two kinds of things is listed twice."""


def _paths(rows: tuple[Row, ...], root: Root, holds: Holds) -> tuple[str, ...]:
    return tuple(row.path for row in rows if row.root == root and row.holds == holds and not row.imported)


NESTED_ROWS = tuple(row for row in RULE_ROWS if row.nested)
NESTED = tuple(row.path for row in NESTED_ROWS if not row.endings)
"""Files that apply to their own folder, anywhere in the project; also above it, up to the root of the repository."""
HOOK_FOLDERS, HOOK_SETTINGS = _paths(HOOK_ROWS, "", "hooks"), _paths(HOOK_ROWS, "", "hook settings")
OWN_HOOK_FOLDERS, OWN_HOOK_SETTINGS = _paths(HOOK_ROWS, "~", "hooks"), _paths(HOOK_ROWS, "~", "hook settings")
"""Hooks of a project, and of a person, below their home folder."""
PROJECT_MCP, OTHERS_MCP = _paths(SERVER_ROWS, "", "servers"), _paths(SERVER_ROWS, "~", "servers")
"""MCP servers of a project, and other programs' files with a person's; the first file that defines a server wins."""
PROJECT_SKILLS, OWN_SKILLS = _paths(SKILL_ROWS, "", "skills"), _paths(SKILL_ROWS, "~", "skills")
PROJECT_AGENTS, OWN_AGENTS = _paths(AGENT_ROWS, "", "agents"), _paths(AGENT_ROWS, "~", "agents")
OBEYED = tuple(dict.fromkeys(row.path for row in LOCATIONS if not row.root))
"""All locations in a project, relative to its folder."""
OBEYED_AT_HOME = tuple(dict.fromkeys(row.path for row in LOCATIONS if row.root == "~"))
"""All locations relative to the home folder, which may itself be the workspace."""
