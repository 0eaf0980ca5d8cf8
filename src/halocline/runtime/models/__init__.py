"""Which model a task uses, how its server is reached, and whose key pays."""
