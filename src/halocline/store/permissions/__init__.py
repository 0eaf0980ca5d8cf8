"""Files of rules, grants, trust and hooks."""
