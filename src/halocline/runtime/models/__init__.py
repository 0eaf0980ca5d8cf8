"""Choose a task's model, its endpoint and its key."""
