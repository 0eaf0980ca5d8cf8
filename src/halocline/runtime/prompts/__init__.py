"""From what a person types to what the task gets: commands, attachments, prompts of MCP servers."""
