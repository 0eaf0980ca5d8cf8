"""Slash commands in a terminal."""
