"""Accounts at providers."""
