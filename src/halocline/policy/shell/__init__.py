"""Parse and judge shell commands: text → tree → findings → the form in which a harmless command runs."""
