"""Known models and vendors, their prices and abilities."""
