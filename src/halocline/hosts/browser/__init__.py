"""A headless browser."""
