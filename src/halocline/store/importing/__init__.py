"""Tasks of other tools: their files read, never written, and made into our events."""
