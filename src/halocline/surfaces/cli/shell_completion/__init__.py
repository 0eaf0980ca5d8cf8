"""`halo completion SHELL`: scripts with which shells complete `halo`, made from the parsers of all commands."""
