"""Rewind, fork and revert: everything about a task's past."""
