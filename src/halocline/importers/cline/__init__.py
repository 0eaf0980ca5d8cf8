"""Tasks of Cline."""
