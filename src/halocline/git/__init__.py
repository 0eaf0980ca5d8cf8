"""Runs the user's git, without running programs a repository names and without passing it keys."""
