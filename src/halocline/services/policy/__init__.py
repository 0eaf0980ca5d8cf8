"""Inspect and change the policy's rules and grants."""
