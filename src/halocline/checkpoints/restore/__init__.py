"""Putting files back."""
