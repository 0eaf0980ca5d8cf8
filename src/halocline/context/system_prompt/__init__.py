"""The system prompt and what it says of the surroundings."""
