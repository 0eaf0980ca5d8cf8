"""A model that plays a script."""
