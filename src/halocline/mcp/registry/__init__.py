"""Servers that can be installed."""
