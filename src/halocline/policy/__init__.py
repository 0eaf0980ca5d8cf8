"""The approval gate: pure decisions with reasons."""
