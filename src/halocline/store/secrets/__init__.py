"""Keys that a person stored."""
