"""Turn what a person types into a task's prompt: slash commands, attachments, prompts of MCP servers."""
