"""The structure of source code."""
