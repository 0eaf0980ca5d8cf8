"""One module for each command of `halo`."""
