"""Everything that runs the person's git: with none of a repository's programs, and with no keys around it."""
