"""Requests from a server to the task or its user."""
