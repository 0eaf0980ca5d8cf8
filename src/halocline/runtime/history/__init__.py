"""Rewinding, forking and reverting: everything about a task's past."""
