"""`halo editor`: the Python side of an editor extension, which shows the page and Halocline's edits."""
