"""A connection to one server, and its life."""
