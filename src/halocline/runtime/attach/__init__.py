"""One task in several processes: the one that writes it, and those that watch and control it."""
