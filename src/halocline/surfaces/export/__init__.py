"""Writes a task as a document: Markdown, a page, or its events."""
