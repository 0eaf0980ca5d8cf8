"""Show an edit while the model is still writing its call."""
