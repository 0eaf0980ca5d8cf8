"""The checks and repairs of `halo doctor`."""
