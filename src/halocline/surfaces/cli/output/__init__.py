"""Output: screen, text and JSON."""
