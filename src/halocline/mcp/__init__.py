"""MCP servers and their tools.

Only `session` and the modules it imports know the SDK; the first server that starts imports them in a thread.
"""
