"""What a person types, and keys."""
