"""Evidence: what the log proves about the work of a task, and which claims of the model it contradicts."""
