"""Draws and reads on a terminal, for the live screen, plain lines and the board."""
