"""Replay recorded tasks."""
