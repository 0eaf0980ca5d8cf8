"""What the model gets to read."""
