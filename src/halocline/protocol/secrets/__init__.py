"""Values that are not shown, and taking secrets out of texts."""
