"""Text from documents, and smaller pictures."""
