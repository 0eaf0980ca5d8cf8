"""One conversation in a terminal."""
