"""Accounts at providers, and the models you can use."""
