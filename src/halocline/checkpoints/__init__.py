"""Checkpoints: saved states of a workspace's files, and restores."""
