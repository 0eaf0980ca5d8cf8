"""Hooks: when they run, what they get and what they return."""
