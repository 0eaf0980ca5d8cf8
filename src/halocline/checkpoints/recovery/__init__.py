"""The journal of a restore, and undoing one that was interrupted."""
