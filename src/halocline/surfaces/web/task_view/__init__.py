"""A task as pages see it: rows and facts, folded from its events once for all pages."""
