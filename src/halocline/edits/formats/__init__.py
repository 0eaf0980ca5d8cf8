"""The forms in which models write edits. Each parser turns one form into edits."""
