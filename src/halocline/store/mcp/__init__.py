"""The files that name MCP servers."""
