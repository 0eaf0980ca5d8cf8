"""git: the table of commands that only read, their operands, and the judge of all git commands."""
