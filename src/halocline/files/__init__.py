"""Safe access to files of a workspace or home: regular files only, opened by descriptor so that no link is followed."""
