"""Recorded tasks, run again."""
