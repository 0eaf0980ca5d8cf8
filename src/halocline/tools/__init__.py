"""Tools: one module each, named as the model calls it."""
