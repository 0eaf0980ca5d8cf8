"""Halocline: an open coding agent built around one append-only event log."""

from halocline._version import __version__

__all__ = ["__version__"]
