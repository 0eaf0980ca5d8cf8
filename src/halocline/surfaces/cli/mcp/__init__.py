"""`halo mcp`."""
