"""Locations of skills, agents, workflows, commands, hooks, plug-ins and MCP servers.

Of one name, the first location wins.
"""

from halocline.protocol.config_locations.row import Row

SKILL_ROWS = (
    Row("~", ".cline/skills", "Cline", holds="skills"),
    Row("~", ".claude/skills", "Claude Code", "claude", holds="skills", since="2.0.20"),
    Row("~", ".agents/skills", "Agent Skills", holds="skills"),
    Row("~", ".codex/skills", "Codex", holds="skills"),
    Row("~", ".config/opencode/skills", "opencode", holds="skills"),
    Row("~", ".cursor/skills", "Cursor", holds="skills", since="2.4"),
    Row("~", ".copilot/skills", "Copilot", holds="skills"),
    Row("~", ".gemini/skills", "Gemini CLI", holds="skills"),
    Row("", ".halocline/skills", "Halocline", holds="skills"),
    Row("", ".clinerules/skills", "Cline", holds="skills"),
    Row("", ".cline/skills", "Cline", holds="skills"),
    Row("", ".claude/skills", "Claude Code", "claude", holds="skills", since="2.0.20"),
    Row("", ".agents/skills", "Agent Skills", holds="skills"),
    Row("", ".codex/skills", "Codex", holds="skills"),
    Row("", ".opencode/skills", "opencode", holds="skills"),
    Row("", ".cursor/skills", "Cursor", holds="skills", since="2.4"),
    Row("", ".github/skills", "Copilot", holds="skills", since="(VS Code 1.108)"),
    Row("", ".gemini/skills", "Gemini CLI", holds="skills"),
)
_AGENTS = (".md", ".yaml", ".yml")
AGENT_ROWS = (
    Row("~/.halocline", "agents", "Halocline", endings=_AGENTS, holds="agents"),
    Row("~", ".claude/agents", "Claude Code", "claude", _AGENTS, "agents", "1.0.60"),
    Row("~", ".cline/agents", "Cline", "cline", _AGENTS, "agents"),
    Row("~", ".config/opencode/agents", "opencode", "opencode", (".md",), "agents"),
    Row("~", ".config/opencode/agent", "opencode", "opencode", (".md",), "agents"),
    Row("~", ".cursor/agents", "Cursor", "cursor", (".md",), "agents", "2.4"),
    Row("~", ".copilot/agents", "Copilot", "copilot", (".agent.md",), "agents"),
    Row("", ".halocline/agents", "Halocline", endings=_AGENTS, holds="agents"),
    Row("", ".claude/agents", "Claude Code", "claude", _AGENTS, "agents", "1.0.60"),
    Row("", ".cline/agents", "Cline", "cline", _AGENTS, "agents"),
    Row("", ".opencode/agents", "opencode", "opencode", (".md",), "agents"),
    Row("", ".opencode/agent", "opencode", "opencode", (".md",), "agents"),
    Row("", ".cursor/agents", "Cursor", "cursor", (".md",), "agents", "2.4"),
    Row("", ".github/agents", "Copilot", "copilot", (".md",), "agents", "(VS Code 1.106)"),
)
_TEXT = (".md",)
COMMAND_ROWS = (
    Row("", ".halocline/workflows", "Halocline", endings=_TEXT, holds="workflows"),
    Row("", ".clinerules/workflows", "Cline", endings=_TEXT, holds="workflows"),
    Row("", ".windsurf/workflows", "Windsurf", endings=_TEXT, holds="workflows"),
    Row("", ".kilocode/workflows", "Kilo Code", endings=_TEXT, holds="workflows"),
    Row("", ".halocline/commands", "Halocline", "plain", _TEXT, "commands"),
    Row("", ".claude/commands", "Claude Code", "claude", _TEXT, "commands"),
    Row("", ".cursor/commands", "Cursor", "plain", _TEXT, "commands", "1.6"),
    Row("", ".opencode/commands", "opencode", "plain", _TEXT, "commands"),
    Row("", ".opencode/command", "opencode", "plain", _TEXT, "commands"),
    Row("", ".roo/commands", "Roo Code", "plain", _TEXT, "commands"),
    Row("", ".github/prompts", "Copilot", "copilot", (".prompt.md",), "commands", "(VS Code 1.100)"),
    Row("", ".gemini/commands", "Gemini CLI", "gemini", (".toml",), "commands"),
    Row("~/.halocline", "workflows", "Halocline", endings=_TEXT, holds="workflows"),
    Row("~/.halocline", "commands", "Halocline", "plain", _TEXT, "commands"),
    Row("~", "Documents/Cline/Workflows", "Cline", endings=_TEXT, holds="workflows"),
    Row("~", "Cline/Workflows", "Cline", endings=_TEXT, holds="workflows"),
    Row("~", ".claude/commands", "Claude Code", "claude", _TEXT, "commands"),
    Row("~", ".cursor/commands", "Cursor", "plain", _TEXT, "commands", "1.6"),
    Row("~", ".config/opencode/commands", "opencode", "plain", _TEXT, "commands"),
    Row("~", ".config/opencode/command", "opencode", "plain", _TEXT, "commands"),
    Row("~", ".roo/commands", "Roo Code", "plain", _TEXT, "commands"),
    Row("~", ".gemini/commands", "Gemini CLI", "gemini", (".toml",), "commands"),
    Row("~", ".codex/prompts", "Codex", "codex", _TEXT, "commands"),
)
HOOK_ROWS = (
    Row("", ".clinerules/hooks", "Cline", holds="hooks"),
    Row("", ".cline/hooks", "Cline", holds="hooks"),
    Row("", ".halocline/hooks", "Halocline", holds="hooks"),
    Row("~", "Documents/Cline/Hooks", "Cline", holds="hooks"),
    Row("~", ".cline/hooks", "Cline", holds="hooks"),
    Row("", ".claude/settings.json", "Claude Code", "claude", holds="hook settings", since="1.0.38"),
    Row("", ".claude/settings.local.json", "Claude Code", "claude", holds="hook settings", since="1.0.38"),
    Row("~", ".claude/settings.json", "Claude Code", "claude", holds="hook settings", since="1.0.38"),
)
PLUGIN_ROWS = (
    Row("~/.halocline", "plugins", "Halocline", holds="plug-ins"),
    Row("", ".halocline/plugins", "Halocline", holds="plug-ins"),
)
PLUGIN_COPIES = "cache/plugins"
"""The folder in Halocline's home with the copies of plug-ins that are read, which tasks may read, too."""
_CLINE = "settings/cline_mcp_settings.json"
_IN_CODE = f"User/globalStorage/saoudrizwan.claude-dev/{_CLINE}"
_MAC = "Library/Application Support"
SERVER_ROWS = (
    Row("~/.halocline", "mcp.json", "Halocline", holds="servers"),
    Row("", ".halocline/mcp.json", "Halocline", holds="servers"),
    Row("", ".mcp.json", "Claude Code", "claude", holds="servers"),
    Row("", ".cursor/mcp.json", "Cursor", "cursor", holds="servers"),
    Row("", ".vscode/mcp.json", "VS Code", "vscode", holds="servers", since="1.99"),
    Row("", ".gemini/settings.json", "Gemini CLI", "gemini", holds="servers"),
    Row("", "opencode.json", "opencode", "opencode", holds="servers"),
    Row("", "opencode.jsonc", "opencode", "opencode", holds="servers"),
    Row("", ".opencode/opencode.json", "opencode", "opencode", holds="servers"),
    Row("", ".zed/settings.json", "Zed", "zed", holds="servers"),
    Row("", ".roo/mcp.json", "Roo Code", "cursor", holds="servers"),
    Row("", ".kilocode/mcp.json", "Kilo Code", "cursor", holds="servers"),
    Row("", ".kiro/settings/mcp.json", "Kiro", "kiro", holds="servers"),
    Row("~", f".cline/data/{_CLINE}", "Cline", holds="servers"),
    Row("~", f".config/Code/{_IN_CODE}", "Cline", holds="servers"),
    Row("~", f".vscode-server/data/{_IN_CODE}", "Cline", holds="servers"),
    Row("~", f"{_MAC}/Code/{_IN_CODE}", "Cline", holds="servers"),
    Row("~", ".cursor/mcp.json", "Cursor", "cursor", holds="servers", imported=True),
    Row("~", ".config/Code/User/mcp.json", "VS Code", "vscode", holds="servers", since="1.102", imported=True),
    Row("~", f"{_MAC}/Code/User/mcp.json", "VS Code", "vscode", holds="servers", since="1.102", imported=True),
    Row("~", ".config/zed/settings.json", "Zed", "zed", holds="servers", imported=True),
    Row("~", ".config/goose/config.yaml", "goose", "goose", holds="servers", imported=True),
    Row("~", ".config/Claude/claude_desktop_config.json", "Claude Desktop", "claude", holds="servers", imported=True),
    Row("~", f"{_MAC}/Claude/claude_desktop_config.json", "Claude Desktop", "claude", holds="servers", imported=True),
    Row("~", ".config/opencode/opencode.json", "opencode", "opencode", holds="servers", imported=True),
    Row("~", ".config/opencode/opencode.jsonc", "opencode", "opencode", holds="servers", imported=True),
    Row("~", ".gemini/settings.json", "Gemini CLI", "gemini", holds="servers", imported=True),
    Row("~", ".codeium/windsurf/mcp_config.json", "Windsurf", "windsurf", holds="servers", imported=True),
    Row("~", ".kiro/settings/mcp.json", "Kiro", "kiro", holds="servers", imported=True),
)
