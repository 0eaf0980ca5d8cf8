"""What a task's events add up to."""
