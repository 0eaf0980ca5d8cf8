"""Files on this machine."""
