"""The context: everything the model reads."""
