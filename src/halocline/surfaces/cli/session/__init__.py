"""One conversation on the command line."""
