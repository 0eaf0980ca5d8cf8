"""The index of a store: which files changed since the last checkpoint, and their contents."""
