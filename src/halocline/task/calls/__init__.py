"""A tool call from the model's request to its result."""
