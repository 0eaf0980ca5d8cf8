"""Text out of documents and pictures."""
