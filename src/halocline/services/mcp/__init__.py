"""The MCP servers that are set up."""
