"""The queries and actions of a page: one module per subject; `registry` merges their tables."""
