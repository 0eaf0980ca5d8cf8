"""This machine: files, commands, search."""
