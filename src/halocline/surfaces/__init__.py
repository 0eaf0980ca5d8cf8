"""The windows: ways in for people."""
