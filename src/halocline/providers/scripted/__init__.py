"""A model that says what a script says."""
