"""Resolve the `@` mentions of a prompt."""
