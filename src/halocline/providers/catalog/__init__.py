"""Which models and vendors there are, what they cost and can do."""
