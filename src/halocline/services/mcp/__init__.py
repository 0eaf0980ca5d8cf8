"""The configured MCP servers."""
