"""Values that packages exchange: pure data, no I/O."""
