"""Fitting a conversation into what a model can read."""
