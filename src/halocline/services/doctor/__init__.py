"""What `halo doctor` checks and mends."""
