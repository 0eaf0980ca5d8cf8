// What can be permitted: its name, and its switches in the folder and outside of it.
export const ROWS = [
  ['Read', 'read', 'read_outside'],
  ['Edit', 'edit', 'edit_outside'],
  ['Safe commands', 'safe_commands', ''],
  ['Builds and tests', 'project_code', ''],
  ['All commands', 'all_commands', ''],
  ['Web', 'web', ''],
  ['Browser', 'browser', ''],
  ['MCP tools', 'mcp', ''],
]
