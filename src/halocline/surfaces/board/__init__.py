"""The board: all tasks of a home in their groups, for the terminal and the page."""
