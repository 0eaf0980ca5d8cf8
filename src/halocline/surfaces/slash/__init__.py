"""Slash commands that are answered here and not by the model."""
