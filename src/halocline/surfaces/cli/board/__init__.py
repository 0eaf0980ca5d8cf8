"""`halo board`: all tasks in a list that opens them on the live screen."""
