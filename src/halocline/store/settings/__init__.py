"""Settings files."""
