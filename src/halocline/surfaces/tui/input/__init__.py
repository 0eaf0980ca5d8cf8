"""Typed text in an opened task of the board."""
