"""Files that define MCP servers."""
