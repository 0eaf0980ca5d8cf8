"""Accounts at providers, and the models that could be used."""
