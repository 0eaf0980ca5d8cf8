"""Rules, grants, trust and hooks, as they lie in files."""
