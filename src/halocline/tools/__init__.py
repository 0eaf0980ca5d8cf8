"""The workshop: one module per tool, named as the model calls it."""
