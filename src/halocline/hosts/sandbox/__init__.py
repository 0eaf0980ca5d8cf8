"""Limits on what a command can reach, enforced by the operating system whatever the policy decided."""
