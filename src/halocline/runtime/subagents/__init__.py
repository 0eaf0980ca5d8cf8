"""Tasks that a task starts."""
