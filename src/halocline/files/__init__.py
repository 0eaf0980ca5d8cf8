"""Opens the files of a workspace or a home: regular files only, and by descriptors, so that no link leads elsewhere."""
