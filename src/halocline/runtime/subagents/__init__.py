"""Sub-agents: tasks started by a task."""
