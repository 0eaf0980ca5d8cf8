"""The system prompt and the note on the environment."""
