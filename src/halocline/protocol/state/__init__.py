"""A task's state, reduced from its events."""
