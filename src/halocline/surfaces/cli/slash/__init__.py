"""Slash commands in line mode."""
