"""A browser without a window."""
