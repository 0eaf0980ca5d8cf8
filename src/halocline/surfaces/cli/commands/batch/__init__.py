"""`halo batch`: many tasks at once, in a live table or in lines, and their report."""
